"""Differences between rules in words."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules_registry.domain.wording.change_words import NO_DIFFERENCE, describe_change, describe_versions
from rules_registry.domain.wording.rule_words import describe
from tests.oracle.builders.drafts import definition_document
from tests.oracle.generators.definitions import random_draft
from tests.oracle.generators.profile import EVERYTHING
from tests.oracle.generators.world import random_world
from tests.unit.rules_registry.support.samples import BODY, NOW
from tripline_contracts import event_type_loader
from tripline_contracts.rules.rule_definition import parse

TRANSACTION = event_type_loader.load()
CARD = {"field": "paymentType", "operator": "=", "value": "CRD"}
SMALL = {"field": "paymentAmount", "operator": "<=", "value": "5"}
LARGE = {"field": "paymentAmount", "operator": ">", "value": "900"}
COUNT = {**BODY, "aggregatorFunctionType": "COUNT", "aggregateFieldName": None, "limit": "3"}
COUNT_BEFORE = {
    "groupingKeyNames": BODY["groupingKeyNames"],
    "aggregatorFunctionType": "COUNT",
    "aggregateFieldName": None,
    "windowSeconds": 3600,
    "offsetSeconds": 1200,
}
COUNTED = "COUNT over 20 min per beneficiaryId and payeeId > 3"
SUMMED = "SUM of paymentAmount over 20 min per beneficiaryId and payeeId > 1000.01"


def _definition(body: Mapping[str, object]) -> dict[str, object]:
    return parse(body, TRANSACTION).to_json()


CHANGES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (BODY, {**BODY, "limit": "1500", "windowSeconds": 1800, "filter": CARD},
     "limit 1000.01 → 1500; window 20 → 30 min; + filter: paymentType = CRD"),
    (BODY, {**BODY, "limitOperatorType": "<"}, "limit > 1000.01 → < 1000.01"),
    (BODY, {**BODY, "limit": {"parameter": "high"}}, "limit 1000.01 → parameter high"),
    (BODY, COUNT, "SUM of paymentAmount → COUNT; limit 1000.01 → 3"),
    (BODY, {**BODY, "groupingKeyNames": []}, "per beneficiaryId and payeeId → over all"),
    ({**BODY, "filter": CARD}, BODY, "− filter: paymentType = CRD"),
    ({**BODY, "filter": CARD}, {**BODY, "filter": SMALL}, "filter paymentType = CRD → paymentAmount <= 5"),
    ({**BODY, "filter": {"all": [CARD, SMALL]}}, {**BODY, "filter": {"all": [CARD, LARGE]}},
     "filter paymentAmount <= 5 → paymentAmount > 900"),
    ({**BODY, "filter": CARD}, {**BODY, "filter": {"all": [CARD, SMALL, {"any": [CARD, LARGE]}]}},
     "+ filter: paymentAmount <= 5; + filter: (paymentType = CRD or paymentAmount > 900)"),
    ({**BODY, "filter": {"all": [CARD, SMALL]}}, {**BODY, "filter": {"all": [SMALL, CARD]}},
     "filter paymentType = CRD and paymentAmount <= 5 → paymentAmount <= 5 and paymentType = CRD"),
    (BODY, {**BODY, "firing": "crossing"}, "alerts every time → alerts on crossing"),
    (BODY, {**BODY, "lateEvents": "store"}, "late ones are judged → late ones only count"),
    (BODY, {**BODY, "precision": "bucketed(60)"}, "windows exact → windows in buckets of 1 min"),
    (BODY, {**BODY, "resetOnAlert": True}, "+ starts afresh after an alert"),
    ({**BODY, "cooldownSeconds": 300}, {**BODY, "cooldownSeconds": 600}, "silent after an alert 5 → 10 min"),
    ({**BODY, "cooldownSeconds": 300}, BODY, "− silent for 5 min after an alert"),
    (BODY, {"conditions": {"all": [BODY, COUNT]}}, f"{SUMMED} → ({SUMMED}) and ({COUNTED})"),
    ({"conditions": {"all": [BODY, COUNT]}}, {"conditions": {"all": [BODY, {**COUNT, "limit": "4", "filter": CARD}]}},
     "condition 2: limit 3 → 4; condition 2: + filter: paymentType = CRD"),
    ({"conditions": {"any": [BODY, COUNT]}}, {"conditions": {"any": [BODY]}}, f"− condition: {COUNTED}"),
    ({"conditions": {"any": [BODY]}}, {"conditions": {"any": [BODY, COUNT]}}, f"+ condition: {COUNTED}"),
    ({**BODY, "groupingKeyNames": [{"field": "paymentAmount", "step": "5"}]},
     {**BODY, "groupingKeyNames": ["paymentAmount"]}, "per paymentAmount in steps of 5 → per paymentAmount"),
    ({"conditions": {"weighted": [{"weight": 3, "of": BODY}, {"weight": 4, "of": COUNT}], "atLeast": 5}},
     {"conditions": {"weighted": [{"weight": 3, "of": BODY}, {"weight": -4, "of": {**COUNT, "limit": "4"}}],
                     "atLeast": {"parameter": "enough"}}},
     "condition 2: limit 3 → 4; weights 3, 4, 5 → 3, -4, parameter enough"),
    ({"conditions": {"weighted": [{"weight": 3, "of": BODY}, {"weight": 4, "of": COUNT}], "atLeast": 5}},
     {"conditions": {"weighted": [{"weight": 3, "of": BODY}], "atLeast": 5}},
     f"weights of at least 5: 3 for ({SUMMED}), 4 for ({COUNTED}) → weights of at least 5: 3 for ({SUMMED})"),
    ({"conditions": {**COUNT, "offsetSeconds": 60}}, {"conditions": {**COUNT, "minimumCount": 2}},
     "condition 1: of the window before the last 1 min → with at least 2"),
    ({"conditions": COUNT}, {"conditions": {**COUNT, "includeCurrent": False}},
     "condition 1: of the window all of it → without the event itself"),
    ({"conditions": {**COUNT, "limit": {"measure": {**COUNT_BEFORE, "minimumCount": 3}, "times": 2}}},
     {"conditions": {**COUNT, "limit": {"measure": COUNT_BEFORE, "plus": 1}}},
     ("condition 1: limit 2 × (COUNT over 1 h before the last 20 min with at least 3 per beneficiaryId and payeeId) → "
     "(COUNT over 1 h before the last 20 min per beneficiaryId and payeeId) + 1")),
    ({"conditions": {"any": [BODY, COUNT]}}, {"conditions": {"all": [BODY, COUNT]}},
     f"({SUMMED}) or ({COUNTED}) → ({SUMMED}) and ({COUNTED})"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "words"), CHANGES, ids=[case[-1][:60] for case in CHANGES])
def test_what_changed(before: dict[str, Any], after: dict[str, Any], words: str) -> None:
    assert describe_change(_definition(before), _definition(after)) == words


def test_of_what_is_new_or_gone() -> None:
    definition = _definition(BODY)
    assert describe_change(None, definition) == f"new: {SUMMED}"
    assert describe_change(definition, None) == f"gone: {SUMMED}"
    assert describe_change(None, None) == NO_DIFFERENCE


VERSION: dict[str, Any] = {
    "definition": _definition(BODY),
    "name": "One",
    "state": "ACTIVE",
    "effectiveFrom": NOW,
    "occurredAt": NOW,
}
LATER = {"effectiveFrom": NOW + 60_000, "occurredAt": NOW + 60_003}
VERSIONS: list[tuple[dict[str, Any], str, str]] = [
    ({}, NO_DIFFERENCE, "the same"),
    ({"occurredAt": NOW + 5}, NO_DIFFERENCE, "nothing but when"),
    ({"state": "PAUSED"}, "state ACTIVE → PAUSED", "paused"),
    ({"name": "Two", "definition": _definition({**BODY, "limit": "7"}), **LATER},
     'limit 1000.01 → 7; name "One" → "Two"', "effective at once goes without saying"),
    ({"name": "Two", **LATER, "effectiveFrom": NOW + 86_400_000},
     'name "One" → "Two"; effective from 2025-11-22T04:40:00Z',
     "a time that was chosen"),
    (LATER, "effective from 2025-11-21T04:41:00Z", "the same once more"),
    ({"percent": None}, NO_DIFFERENCE, "no rollout"),
    ({"percent": 5}, "rolled out to 5 % of groups", "a rollout"),
    ({"percent": 5, "definition": _definition({**BODY, "limit": "7"})},
     "limit 1000.01 → 7; rolled out to 5 % of groups", "of what was started before"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "words", "reason"), VERSIONS, ids=[case[-1] for case in VERSIONS])
def test_versions(changes: dict[str, Any], words: str, reason: str) -> None:
    assert describe_versions(VERSION, {**VERSION, **changes}) == words, reason


def test_a_share_is_told_where_it_is_another_one() -> None:
    narrow, wide = ({**VERSION, "percent": percent} for percent in (5, 20))
    assert describe_versions(narrow, wide) == "rolled out to 20 % of groups"
    assert describe_versions(wide, {**wide}) == NO_DIFFERENCE
    assert describe_versions(wide, VERSION) == NO_DIFFERENCE


def _random_definition(seed: int) -> dict[str, object]:
    random = Random(seed)
    draft = random_draft(random, random_world(random, EVERYTHING), EVERYTHING)
    return _definition(definition_document(draft))


_DEFINITIONS = st.integers(0, 2**32).map(_random_definition)


@settings(deadline=None)
@given(_DEFINITIONS, _DEFINITIONS)
def test_only_equal_definitions_have_no_difference(one: dict[str, object], other: dict[str, object]) -> None:
    assert describe_change(one, copy.deepcopy(one)) == NO_DIFFERENCE
    words = describe_change(one, other)
    assert (words == NO_DIFFERENCE) == (one == other)
    assert words.strip()
    assert describe(one).strip()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@settings(deadline=None)
@given(_DEFINITIONS, st.data())
def test_whatever_was_written_in_a_member_there_is_a_text(
    one: dict[str, object], data: st.DataObject
) -> None:
    other = {**one, data.draw(st.sampled_from([*sorted(one), "unheard"])): data.draw(_JSON)}
    words = describe_change(one, other)
    assert (words == NO_DIFFERENCE) == (one == other)
    assert words.strip()
