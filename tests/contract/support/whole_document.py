"""The document before a campaign narrows it: what it allows is right to take.

Chains of operations put values of answers into bodies, whichever variant of a body was drawn. A narrowed document may
lack them there, and then holds a body for wrong that the whole one allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.core.parameters import ParameterLocation


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """An OpenAPI document as the service gives it."""

    content: dict[str, Any]

    def excuses(self, case: Any, failures: Sequence[BaseException]) -> bool:
        """Whether all that failed is that a body was taken, which nothing but the narrowing forbids."""
        return all(isinstance(failure, AcceptedNegativeData) for failure in failures) and self._allows(case)

    def _allows(self, case: Any) -> bool:
        wrong = [location for location, info in case.meta.components.items() if info.mode.is_negative]
        if any(location is not ParameterLocation.BODY for location in wrong):
            return False
        operation = self.content["paths"].get(case.path, {}).get(case.method.lower(), {})
        media = operation.get("requestBody", {}).get("content", {}).get(case.media_type)
        if media is None:
            return False
        schema = {**media["schema"], "components": self.content["components"]}
        return bool(Draft202012Validator(schema).is_valid(case.body))
