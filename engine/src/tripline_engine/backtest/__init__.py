"""Backtests: rules that are tried over recorded history, by the engine's own evaluator."""
