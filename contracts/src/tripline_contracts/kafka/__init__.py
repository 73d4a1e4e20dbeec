"""Kafka, as its clients see it: which cluster, as whom, with which rights."""
