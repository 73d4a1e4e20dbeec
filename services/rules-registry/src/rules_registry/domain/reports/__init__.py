"""What shards of engines report, and how it compares with the log."""
