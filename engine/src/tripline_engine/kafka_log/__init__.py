"""Kafka topics read as logs: ranges of offsets, records as they came."""
