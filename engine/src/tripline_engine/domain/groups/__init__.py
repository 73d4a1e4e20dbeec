"""Groups of transactions, and the lists of each group in event-time order."""
