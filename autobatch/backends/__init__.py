"""What runs a program for a batch, on the host's side: program counter, local-static interpretation, plain Python."""
