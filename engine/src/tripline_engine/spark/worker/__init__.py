"""Code of Spark's Python worker processes alone: fork server, warm-up, JIT watch."""
