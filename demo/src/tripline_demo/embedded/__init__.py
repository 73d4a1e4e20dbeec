"""Servers and tools that packages bring: Postgres, Kafka, Java, jars."""
