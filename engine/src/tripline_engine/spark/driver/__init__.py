"""What runs in the driver process: the engine's life, ticker, metrics, limits."""
