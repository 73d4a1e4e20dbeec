"""One shard's share of one micro-batch: payloads in, Kafka records out."""
