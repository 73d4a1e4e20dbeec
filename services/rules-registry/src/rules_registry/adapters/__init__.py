"""Postgres and Kafka, behind the ports of the service."""
