"""An episode: alerts of one rule and group that follow one another without a gap. A session window in event time.

    alerts     a---->     b---->                      each covers its gap: from its event time on, both ends included
                    c---->          d---->
    episodes   |==============|     |====|            what overlaps or touches is one episode

So an alert that comes late may join two episodes, and the episodes of a set of alerts do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import NamedTuple

from alert_api.domain.cases.alert_facts import AlertFacts
from alert_api.domain.cases.peak import Peak, higher, peak_of
from alert_api.domain.cases.policy import CasePolicy
from tripline_contracts.canonical import canonical_json, sha256_hex


class Series(NamedTuple):
    """A rule and a hash of a group: whose alerts may follow one another."""

    rule_id: int
    group_key: str


@dataclass(frozen=True, slots=True)
class Episode:
    """Times in ms since the epoch.

    :ivar episode_id: the position of the alert that began it in the log
    :ivar until: an alert up to here, this ms included, belongs to it
    """

    episode_id: int
    series: Series
    group: str
    first: int
    last: int
    until: int
    count: int
    peak: Peak | None

    def touches(self, other: Episode) -> bool:
        """Whether the two are one episode."""
        return self.first <= other.until and other.first <= self.until


def episode_of(alert: AlertFacts, policy: CasePolicy) -> Episode:
    """The episode that an alert is by itself."""
    group, group_key = group_identity(alert.group)
    # A forged alert may have a window that ends before it begins; its own event it covers all the same.
    gap = max(0, alert.window_ms) if policy.gap_ms is None else policy.gap_ms
    return Episode(
        episode_id=alert.position,
        series=Series(alert.rule_id, group_key),
        group=group,
        first=alert.event_time,
        last=alert.event_time,
        until=alert.event_time + gap,
        count=1,
        peak=peak_of(alert),
    )


def group_identity(group: Mapping[str, str]) -> tuple[str, str]:
    """A group's canonical text and the text's hash."""
    return _identity(tuple(sorted(group.items())))


@lru_cache(maxsize=65_536)
def _identity(group: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    # Of each group there are many alerts.
    text = canonical_json(dict(group))
    return text.decode(), sha256_hex(text)


def merged(episodes: Sequence[Episode]) -> Episode:
    """All of them as one: that which began first in the log goes on."""
    return reduce(_joined, episodes)


def _joined(one: Episode, other: Episode) -> Episode:
    return replace(
        one,
        episode_id=min(one.episode_id, other.episode_id),
        first=min(one.first, other.first),
        last=max(one.last, other.last),
        until=max(one.until, other.until),
        count=one.count + other.count,
        peak=higher(one.peak, other.peak),
    )
