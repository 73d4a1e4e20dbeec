"""A second judge that nobody here wrote: PostgreSQL's window functions."""
