"""Windows of whole buckets (`precision: bucketed`)."""
