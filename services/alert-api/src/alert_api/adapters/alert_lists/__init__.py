"""Lists of alerts: which rows a filter chooses."""
