"""The whole line on one machine: embedded Postgres and Kafka, the services under one supervisor, and traffic."""
