"""The subject of a case: whom, or what, the alerts are about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from alert_api.domain.cases.policy import CasePolicy
from tripline_contracts.canonical import canonical_json, sha256_hex


@dataclass(frozen=True, slots=True)
class Subject:
    """The value of a field or a party; of alerts whose group has neither, rule and group themselves.

    `text` is canonical JSON: equal subjects have equal texts.
    """

    text: str

    @classmethod
    def of_field(cls, field: str, value: str) -> Self:
        return cls(canonical_json({"field": field, "value": value}).decode())

    @classmethod
    def of_series(cls, rule_id: int, group: Mapping[str, str]) -> Self:
        return cls(canonical_json({"group": dict(group), "ruleId": rule_id}).decode())

    @property
    def field(self) -> str | None:
        """The field or party whose value it is; None of rule and group."""
        name: str | None = json.loads(self.text).get("field")
        return name

    @property
    def key(self) -> str:
        """A hash to compare and to index by: the text may be longer than an index takes."""
        return _key(self.text)


@lru_cache(maxsize=65_536)
def _key(text: str) -> str:
    return sha256_hex(text.encode())


def subject_of(rule_id: int, group: Mapping[str, Any], policy: CasePolicy) -> Subject:
    """The subject of an alert with this group."""
    for name in policy.subject_fields:
        for field in policy.fields_of(name):
            if field in group:
                return Subject.of_field(name, group[field])
    return Subject.of_series(rule_id, group)
