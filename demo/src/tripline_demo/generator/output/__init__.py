"""The generator's way out: records, their rate, and where they go."""
