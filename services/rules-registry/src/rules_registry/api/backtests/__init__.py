"""/v1/backtests."""
