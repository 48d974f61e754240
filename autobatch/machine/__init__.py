"""The program-counter machine as TensorFlow compiles it: blocks, which of them runs next, and for which lanes."""
