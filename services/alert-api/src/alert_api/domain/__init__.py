"""The lifecycle of an alert as plain values and functions: no Flask, Kafka or Postgres."""
