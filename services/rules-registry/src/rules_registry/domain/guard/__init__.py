"""Whether a version of a rule alerts far more often than the one before it."""
