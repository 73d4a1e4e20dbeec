"""Rows between Spark and a shard: packing, input and output batches."""
