"""Telling others what becomes of cases."""
