"""The streaming query: session, sources, shard processor, sink."""
