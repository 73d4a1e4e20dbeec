"""Normalised definitions of any kind: parsed again they are equal, and the hash goes by the meaning."""

from __future__ import annotations

import hashlib
import json
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.contracts.support.definition_samples import MEANT, TRANSACTION
from tests.unit.contracts.support.strategies import fields_of, filters_of, functions_of
from tripline_contracts import decimals, schemas
from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.aggregate import JUDGED_ONCE, NOT_IN_BUCKETS
from tripline_contracts.rules.precision import MAX_BUCKETS
from tripline_contracts.rules.rule_definition import Firing, LateEvents, RuleDefinition
from tripline_contracts.spelling import OPERATORS

# a deadline per example would measure how busy the machine is
UNHURRIED = settings(deadline=None, max_examples=20)


@st.composite
def definitions(draw: st.DrawFn) -> RuleDefinition:
    function = draw(st.sampled_from(functions_of(TRANSACTION)))
    fields = fields_of(function, TRANSACTION)
    judged_once = function in JUDGED_ONCE
    late_events = draw(st.sampled_from(("evaluate", "store") if judged_once else get_args(LateEvents)))
    again = late_events == "reevaluate"
    window_seconds = draw(st.integers(1, rule_definition.MAX_WINDOW_SECONDS))
    resets = not again and not judged_once and draw(st.booleans())
    in_buckets = not again and not resets and function not in NOT_IN_BUCKETS
    buckets = st.integers(-(-window_seconds // MAX_BUCKETS), window_seconds)
    return RuleDefinition(
        tuple(sorted(draw(st.sets(st.sampled_from(TRANSACTION.groupable))))),
        function,
        draw(st.sampled_from(fields)),
        draw(st.sampled_from(list(OPERATORS.values()))),
        decimals.from_scaled(draw(st.integers(-(10**24) + 1, 10**24 - 1))),
        window_seconds,
        firing="every" if again else draw(st.sampled_from(get_args(Firing))),
        late_events=late_events,
        bucket_seconds=draw(st.none() | buckets) if in_buckets else None,
        filter=draw(st.none() | filters_of(TRANSACTION)),
        reset_on_alert=resets,
        cooldown_seconds=None
        if again
        else draw(st.none() | st.integers(1, rule_definition.MAX_WINDOW_SECONDS)),
    )


@UNHURRIED
@given(definitions())
def test_parse_of_to_json_is_identity(definition: RuleDefinition) -> None:
    carried = json.loads(json.dumps(definition.to_json()))
    schemas.validator("rule-definition")(carried)
    assert rule_definition.parse(carried, TRANSACTION) == definition


@UNHURRIED
@given(definitions(), st.data())
def test_the_hash_does_not_depend_on_order_or_spelling(
    definition: RuleDefinition, data: st.DataObject
) -> None:
    spelled = dict(data.draw(st.permutations(list(definition.to_json().items()))))
    spelled["groupingKeyNames"] = data.draw(st.permutations(list(definition.grouping_key_names)))
    spelled["limit"] = f"{definition.limit:E}"
    spelled["aggregatorFunctionType"] = f"({definition.function.lower()})"
    spelled["precision"] = f" {definition.precision.upper().replace('(', ' ( ')}"
    if definition.window_seconds % 60 == 0:
        spelled["windowMinutes"] = str(definition.window_seconds // 60)
    assert rule_definition.parse(spelled, TRANSACTION).hash == definition.hash


@settings(deadline=None, max_examples=12)
@given(definitions(), definitions())
def test_equal_hashes_mean_equal_definitions(one: RuleDefinition, other: RuleDefinition) -> None:
    assert (one.hash == other.hash) == (one == other)


def test_the_hash_by_the_standard_library() -> None:
    text = json.dumps(MEANT.to_json(), sort_keys=True, separators=(",", ":"))
    assert MEANT.hash == hashlib.sha256(text.encode()).hexdigest()
    assert MEANT.hash == sha256_hex(canonical_json(MEANT.to_json()))
    assert MEANT.hash == "b77bfadc6e1d9ccb17a0b45da18b4d715d02853e3da9ecef5a0c54bfb45f41a6"
