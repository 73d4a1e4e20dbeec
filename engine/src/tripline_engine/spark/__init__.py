"""The engine on Spark Structured Streaming: session, sources, shard processor, sink, driver threads."""
