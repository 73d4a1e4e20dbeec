"""Backtests: rules that are tried over recorded history."""
