"""Replay certificates: the recorded order replayed, its alerts compared with those of alerts.v1, digests of both."""
