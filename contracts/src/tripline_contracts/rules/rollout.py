"""Rollouts: which groups of a rule are judged by the version on trial.

A shadow that is rolled out to some percent of groups alerts in the rule's place for these. Groups are told apart by a
hash of rule and group, so that anybody can tell from an alert which version counts, and so that a wider rollout has all
groups of a narrower one. The version has no part in it: the next rollout of a rule begins with the same groups.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from tripline_contracts.canonical import canonical_json
from tripline_contracts.event_members import read_integer

BUCKETS: Final = 100
"""Groups are in as many buckets, of about the same size: one for each percent."""
_HASHED_BYTES: Final = 8


def bucket_of(rule_id: int, group: Mapping[str, str]) -> int:
    """The bucket of a group, 0 to 99; there is no secret in it.

    The first eight bytes, big-endian, of the SHA-256 of the rule id in decimal, a colon, and the RFC 8785 JSON of the
    group in UTF-8, modulo 100.

    :param group: as the rule's alerts have it: each field or party by its name, values as texts
    """
    digest = hashlib.sha256(b"%d:" % rule_id + canonical_json(dict(group))).digest()
    return int.from_bytes(digest[:_HASHED_BYTES], "big") % BUCKETS


def is_on_trial(rule_id: int, group: Mapping[str, str], percent: int) -> bool:
    """Whether the version on trial counts for a group, at that percent; 0 is a shadow that is not rolled out."""
    return bucket_of(rule_id, group) < percent


def read_percent(event: Mapping[str, Any], before: int) -> int:
    """The percent to which an event widens a rollout, from the one before. Raises LookupError or ValueError."""
    percent = read_integer(event, "percent")
    if not before < percent < BUCKETS:
        raise ValueError(f"{percent} % is not between {before} and {BUCKETS}")
    return percent
