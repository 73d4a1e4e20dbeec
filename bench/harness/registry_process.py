"""The registry's API as a process of its own that may use one core, with a key that may do everything."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Final

import httpx

from bench.harness.api_process import running_api

DEFINITION: Final[Mapping[str, object]] = {
    "groupingKeyNames": ["payeeId", "beneficiaryId"],
    "aggregatorFunctionType": "SUM",
    "aggregateFieldName": "paymentAmount",
    "limitOperatorType": ">",
    "limit": "1000.01",
    "windowSeconds": 1200,
}
_SETTINGS: Final = {
    "TRIPLINE_FOUR_EYES": "false",
    "TRIPLINE_MAX_RULES": "1000000",
    "TRIPLINE_MAX_ACTIVE_RULES": "1000000",
    "TRIPLINE_EXPECTED_RATE": "15",
}


def running_registry(owner: str) -> AbstractContextManager[httpx.Client]:
    """A client of the API on that database; `owner` is the superuser's DSN."""
    return running_api("rules-registry", "TRIPLINE_REGISTRY_DSN", "tripline_registry_api", owner, _SETTINGS)
