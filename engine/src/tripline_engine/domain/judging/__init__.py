"""Rules judged over accepted transactions of one anchor: verdicts out."""
