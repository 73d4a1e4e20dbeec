"""/v1/changes, and what becomes of a request where a second person has to approve it."""
