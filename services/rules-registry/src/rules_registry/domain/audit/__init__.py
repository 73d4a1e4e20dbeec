"""The audit trail: who changed what, when and why, in a chain of hashes."""
