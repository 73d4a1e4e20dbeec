"""Snoozes in Postgres: read, asked for, decided and ended."""
