"""The rules registry: commands in, events out.

`domain` decides and evolves (pure), `service` is the use cases and the ports they need, `adapters` are
Postgres and Kafka, `api` is HTTP. `cli` starts the three processes: the API, the relay and the status
projector.
"""
