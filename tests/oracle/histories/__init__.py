"""Random histories: records, rule events and ticks cut into micro-batches, the same for the same seed."""
