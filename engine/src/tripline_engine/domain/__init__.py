"""The engine without Spark: columns and records in, records out."""
