"""The outside world: Postgres, Kafka, the registry, Prometheus."""
