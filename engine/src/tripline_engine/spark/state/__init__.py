"""The shards' state logs in Spark's state store, and blob files beside it."""
