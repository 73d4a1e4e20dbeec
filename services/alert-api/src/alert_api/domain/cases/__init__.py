"""Episodes and cases: what the log of alerts and of people's work adds up to. Plain values and functions."""
