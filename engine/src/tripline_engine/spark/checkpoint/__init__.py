"""The checkpoint folder: what it pins, Spark's offsets, where a rebuilt one begins."""
