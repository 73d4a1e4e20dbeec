"""Asking for backtests, and having them done."""
