"""Widest windows kept over many changes are those that the contract reckons from scratch."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rules_registry.domain.active_rules import ActiveRules
from rules_registry.domain.rule import Rule
from tests.unit.rules_registry.support.samples import chained, definition, rule
from tripline_contracts.rules.widest_windows import widest_windows, widest_windows_after

WINDOWS = st.integers(1, 4)
DEFINITIONS = st.builds(
    lambda window, keys: definition(window, *keys),
    WINDOWS,
    st.sampled_from([("payeeId",), ("payeeId", "paymentType"), ("beneficiaryId",)]),
) | st.lists(
    st.tuples(WINDOWS, st.sampled_from([(), ("paymentType",), ("beneficiaryId",)])), min_size=1, max_size=4
).map(lambda groupings: chained(*groupings))
RULES = st.builds(
    lambda rule_id, state, drawn, version: rule(
        rule_id=rule_id, state=state, definition=drawn, definition_version=version
    ),
    st.integers(1, 6),
    st.sampled_from(["ACTIVE", "PAUSED", "DELETED"]),
    DEFINITIONS,
    st.integers(1, 3),
)


def from_scratch(rules: dict[int, Rule]) -> tuple[dict[str, object], ...]:
    needing = [
        (r.rule_id, r.definition_version, r.definition) for r in rules.values() if r.state != "DELETED"
    ]
    return tuple(widest_windows(needing))


@given(st.lists(RULES, max_size=5, unique_by=lambda r: r.rule_id), st.lists(RULES, max_size=12))
def test_after_any_changes(before: list[Rule], changes: list[Rule]) -> None:
    standing = ActiveRules(before)
    rules = {r.rule_id: r for r in before}
    assert standing.widest() == from_scratch(rules)
    for changed in changes:
        standing.take(changed)
        rules[changed.rule_id] = changed
        assert standing.widest() == from_scratch(rules)


@given(st.lists(RULES, max_size=5, unique_by=lambda r: r.rule_id), st.lists(RULES, max_size=12))
def test_after_any_change_from_what_was_before(before: list[Rule], changes: list[Rule]) -> None:
    rules = {r.rule_id: r for r in before}
    for changed in changes:
        last, old = from_scratch(rules), rules.get(changed.rule_id)
        needing = (changed.rule_id, changed.definition_version, changed.definition)
        told = widest_windows_after(last, changed.rule_id, None if changed.state == "DELETED" else needing)
        rules[changed.rule_id] = changed
        if told is not None:
            assert tuple(told) == from_scratch(rules)
        else:
            assert old is not None, "of a new rule it is always told"
            assert changed.rule_id in {entry["ruleId"] for entry in last}


def test_it_is_not_told_where_another_rule_may_be_next() -> None:
    wide, narrow = definition(60, "payeeId"), definition(10, "payeeId")
    last = widest_windows([(1, 1, wide)])
    assert widest_windows_after(last, 1, None) is None
    assert widest_windows_after(last, 1, (1, 2, narrow)) is None
    assert widest_windows_after(last, 1, (1, 2, definition(60, "paymentType"))) is None
    assert widest_windows_after(last, 2, (2, 1, narrow)) == last
    assert widest_windows_after(last, 1, (1, 2, wide)) == widest_windows([(1, 2, wide)])
