"""From a Python function to a control-flow graph: read, fence, desugar, build."""
