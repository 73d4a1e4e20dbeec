"""Use cases: what the API and the projector do, over ports that adapters fill."""
