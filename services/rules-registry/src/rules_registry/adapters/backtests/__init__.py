"""Backtests on Postgres, and the prover that runs them."""
