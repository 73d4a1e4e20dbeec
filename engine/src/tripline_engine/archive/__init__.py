"""The archive: Parquet files of topics beyond Kafka's retention, and one log of topic and archive.

Nothing here imports Spark.
"""
