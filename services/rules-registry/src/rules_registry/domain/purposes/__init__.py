"""What a rule is for."""
