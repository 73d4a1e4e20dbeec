"""What is kept of records that are refused, and the columns that tell of what is not."""

from __future__ import annotations

from typing import Final

REJECT_BYTES: Final = 512 * 1024
"""Bytes of a rejected record's value that its dead letter keeps."""

CUT_LENGTH, CUT_SHA256 = "cutLength", "cutSha256"
"""Columns with the true length and hash of a value of which only the beginning is there; null for nearly all."""
