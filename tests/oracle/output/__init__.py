"""Output: the JSON of alerts and trace records."""
