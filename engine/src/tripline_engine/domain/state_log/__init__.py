"""The durable state of a shard, as entries of its state log."""
