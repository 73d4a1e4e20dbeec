"""Many stored alerts, and calls that read them."""
