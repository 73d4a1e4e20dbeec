"""The record header that marks a record of transactions.v1 as part of a backfill (decision 0039)."""

from __future__ import annotations

from typing import Final

HEADER: Final = "backfill"
"""The Kafka header; its value is the `commandId` of the START_BACKFILL, as UTF-8 text."""
