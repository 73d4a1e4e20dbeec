"""The vocabulary of the oracle: raw values, exact numbers, event types, and what goes in and comes out."""
