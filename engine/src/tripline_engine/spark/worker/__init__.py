"""What runs in Spark's Python worker processes alone."""
