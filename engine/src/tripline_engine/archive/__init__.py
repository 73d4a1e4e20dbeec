"""The archive: what Kafka forgets, as Parquet files; writing, merging, and reading it together with the topics.

Nothing here knows Spark.
"""
