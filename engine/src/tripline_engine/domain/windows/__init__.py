"""Exact windows: arrays and kernels for sums, distinct values, extremes and resets."""
