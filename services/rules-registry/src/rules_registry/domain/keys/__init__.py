"""API keys that admins give out: who holds one in which role, and the secrets that stand for it."""
