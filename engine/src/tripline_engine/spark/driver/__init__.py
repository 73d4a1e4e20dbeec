"""Code of the driver process: the engine's life cycle, ticker, metrics, limits."""
