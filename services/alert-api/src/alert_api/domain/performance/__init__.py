"""What rules are worth: how often they were right, and how sure that is."""
