"""The line as processes under one supervisor: what they are, how they start, how they are found and stopped."""
