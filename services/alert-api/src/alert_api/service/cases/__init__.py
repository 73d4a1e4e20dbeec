"""Cases: queries, and work on them."""
