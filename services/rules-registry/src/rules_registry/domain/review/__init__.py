"""Changes that another person has to approve, and the life of a rule between draft and retirement."""
