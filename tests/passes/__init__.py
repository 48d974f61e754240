"""Programs as text, through the passes, without Python source, TensorFlow or compiling."""
