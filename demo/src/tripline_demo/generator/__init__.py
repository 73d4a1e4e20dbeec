"""The traffic generator: a deterministic stream of transactions, mischief on request, ones by hand, replays.

What the stream is made of belongs to the event type: `payments`, `authorisations`, `activities`; `trades` finds it.
"""
