"""What should come out, counted independently of the engine."""
