"""What runs a program for a batch, on the host's side: the program-counter machine, local-static interpretation, plain Python."""
