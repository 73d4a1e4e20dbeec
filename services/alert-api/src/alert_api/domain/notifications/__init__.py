"""What becomes of cases, as others are told it."""
