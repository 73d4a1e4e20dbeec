"""What came of a backtest in numbers: by rule, by hour, by group, beside rules that were live, beside labels."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from tripline_contracts.cloudevents import rfc3339
from tripline_contracts.event_type import EventType
from tripline_engine.backtest.label_tally import LabelTally
from tripline_engine.backtest.labels import Labels
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span_alert import SpanAlert

_TOP: Final = 20
_HOUR_MS: Final = 3_600_000
_GROUP: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True)
NOBODY: Final[Mapping[int, int]] = MappingProxyType({})


@dataclass(slots=True)
class _OfRule:
    labelled: LabelTally
    alerts: int = 0
    hours: Counter[int] = field(default_factory=Counter)
    groups: Counter[str] = field(default_factory=Counter)
    occasions: set[bytes] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Told:
    """What was made of an alert: of one occasion a hundred rules of a sweep have alerts, one after the other."""

    alert: SpanAlert | None
    group: str
    occasion: bytes

    def is_of(self, other: SpanAlert) -> bool:
        """Whether the other alert has the same group and transaction, as the same objects."""
        if self.alert is None:
            return False
        return all(self.alert.alert[name] is other.alert[name] for name in ("group", "transaction"))


class Tally:
    """Counts alerts as they come."""

    def __init__(
        self, rules: Sequence[TriedRule], event_type: EventType, labels: Labels | None = None
    ) -> None:
        self._rules, self._id_field, self._has_labels = rules, event_type.id_field.name, labels is not None
        self._of = {rule.rule_id: _OfRule(LabelTally(labels or Labels())) for rule in rules}
        self._told = _Told(None, "", b"")

    @property
    def alerts(self) -> int:
        """How many there were, of all rules."""
        return sum(of_rule.alerts for of_rule in self._of.values())

    def take(self, alert: SpanAlert) -> None:
        """Counts one alert of a tried rule."""
        of_rule, told = self._of[alert.alert["ruleId"]], self._told
        if not told.is_of(alert):
            group = group_text(alert.alert)
            told = self._told = _Told(alert, group, self._occasion(alert, group))
        of_rule.alerts += 1
        of_rule.hours[alert.event_time // _HOUR_MS] += 1
        of_rule.groups[told.group] += 1
        of_rule.occasions.add(told.occasion)
        of_rule.labelled.take(alert.alert["transaction"][self._id_field])

    def to_json(
        self, beside: Mapping[int, int] = NOBODY, live: Iterable[SpanAlert] = ()
    ) -> list[dict[str, Any]]:
        """By rule: alerts, groups, the first of them by number of alerts, alerts by hour; all times in UTC.

        :param beside: by tried rule the live one that it is compared with
        :param live: the alerts that those gave: with how many of them each tried rule agrees, by group and transaction
        """
        occasions: defaultdict[int, set[bytes]] = defaultdict(set)
        for alert in live:
            occasions[alert.alert["ruleId"]].add(self._occasion(alert, group_text(alert.alert)))
        rows = []
        for rule in self._rules:
            row = self._row(rule)
            if rule.rule_id in beside:
                other = beside[rule.rule_id]
                row["beside"] = {
                    "ruleId": other,
                    **_overlap(self._of[rule.rule_id].occasions, occasions[other]),
                }
            rows.append(row)
        return rows

    def _row(self, rule: TriedRule) -> dict[str, Any]:
        of_rule = self._of[rule.rule_id]
        top = sorted(of_rule.groups.items(), key=lambda item: (-item[1], item[0]))[:_TOP]
        return {
            "ruleId": rule.rule_id,
            "name": rule.name,
            "definition": rule.definition.to_json(),
            "definitionHash": rule.definition.hash,
            "alerts": of_rule.alerts,
            "groups": len(of_rule.groups),
            "topGroups": [{"group": json.loads(text), "alerts": count} for text, count in top],
            "hours": {rfc3339(hour * _HOUR_MS): count for hour, count in sorted(of_rule.hours.items())},
            **({"labelled": of_rule.labelled.to_json()} if self._has_labels else {}),
        }

    def _occasion(self, alert: SpanAlert, group: str) -> bytes:
        """Group, transaction and event time: 16 bytes."""
        transaction_id = alert.alert["transaction"][self._id_field]
        # JSON text has no such letter in it, and the number is what stands behind the last one
        said = f"{group}\0{transaction_id}\0{alert.event_time}"
        return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def group_text(alert: Mapping[str, Any]) -> str:
    """The group as JSON text, its fields in the order of their names."""
    return _GROUP.encode(alert["group"])


def _overlap(tried: set[bytes], live: set[bytes]) -> dict[str, int]:
    return {"both": len(tried & live), "onlyTried": len(tried - live), "onlyLive": len(live - tried)}
