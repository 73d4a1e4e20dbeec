"""Windows: which accepted transactions one contains, and what its aggregate comes to."""
