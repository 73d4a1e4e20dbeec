"""The traffic generator: a deterministic stream of payments, mischief on request, payments by hand, replays."""
