"""The digest of an alert: equal for alerts that say the same, whoever judged, and when."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from tripline_contracts.canonical import canonical_json
from tripline_engine.domain.proof.differences import NOT_COMPARED


def alert_digest(alert: Mapping[str, Any]) -> bytes:
    """SHA-256 of its canonical JSON, without `detectedAt` and `mode`: 32 bytes.

    Raises NotCanonical for what no engine has written.
    """
    said = {name: value for name, value in alert.items() if name not in NOT_COMPARED}
    return hashlib.sha256(canonical_json(said)).digest()
