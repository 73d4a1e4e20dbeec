"""What retention does in Postgres: deleting what is too old or too much, and adding up counts."""
