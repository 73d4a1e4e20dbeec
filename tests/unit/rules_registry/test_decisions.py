"""What each command makes of a rule, and why it is refused: `decide` and `evolve`, without anything around them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_registry.domain.commands import (
    ChangeRule,
    ChangeSettings,
    DeleteRule,
    PauseRule,
    PublishRule,
    ResumeRule,
)
from rules_registry.domain.decisions import decide, decide_settings
from rules_registry.domain.engine_settings import EngineSettings, SettingsState
from rules_registry.domain.events import (
    RuleDeleted,
    RuleEvent,
    RulePaused,
    RulePublished,
    RuleResumed,
    SettingsChanged,
)
from rules_registry.domain.rule import Rule, evolve, fold
from rules_registry.errors import EndsTooEarly, RuleIsDeleted, RuleNotFound, StaleVersion, WrongState
from tests.unit.rules_registry.support.samples import NOW, SUM, definition, rule

NEW = definition(60)
PAUSED, DELETED = rule(state="PAUSED"), rule(state="DELETED")

ACCEPTED: list[tuple[Rule | None, Any, type[RuleEvent], dict[str, Any], str]] = [
    (None, PublishRule(7, "A", SUM, 5), RulePublished,
     {"version": 1, "definition_version": 1, "state": "ACTIVE", "name": "A", "effective_from": 5}, "the first one"),
    (None, PublishRule(7, None, SUM, None), RulePublished,
     {"name": "Rule 7", "effective_from": NOW}, "no name, no time: its id, and now"),
    (None, PublishRule(7, "A", SUM, 0), RulePublished, {"effective_from": 0}, "0 is a time and not nothing"),
    (None, PublishRule(7, "A", SUM, NOW + 10**9), RulePublished, {"effective_from": NOW + 10**9}, "in the future"),
    (None, PublishRule(7, "A", SUM, None, effective_until=NOW + 1), RulePublished,
     {"effective_from": NOW, "effective_until": NOW + 1}, "for a while"),
    (rule(effective_until=9), ChangeRule(7, None, None, NEW, None), RulePublished,
     {"effective_until": None}, "the end goes with its definition"),
    (rule(effective_until=9), DeleteRule(7, None), RuleDeleted, {"effective_until": 9}, "expired"),
    (rule(effective_until=9), PauseRule(7, None), RulePaused, {"effective_until": 9}, "late ones may still come"),
    (rule(), ChangeRule(7, None, None, NEW, None), RulePublished,
     {"version": 4, "definition_version": 4, "state": "ACTIVE", "name": "Seven", "effective_from": NOW},
     "without a name it keeps its own"),
    (rule(), ChangeRule(7, frozenset({3}), "B", NEW, 1), RulePublished,
     {"name": "B", "effective_from": 1, "definition": NEW}, "a new name, since long ago"),
    (PAUSED, ChangeRule(7, None, None, NEW, None), RulePublished,
     {"state": "PAUSED", "definition_version": 4}, "a paused rule stays paused"),
    (rule(), PauseRule(7, None), RulePaused,
     {"version": 4, "definition_version": 2, "state": "PAUSED", "definition": SUM}, "the definition goes along"),
    (PAUSED, ResumeRule(7, frozenset({1, 3})), RuleResumed,
     {"version": 4, "definition_version": 2, "state": "ACTIVE"}, "one of the expected versions is enough"),
    (rule(), DeleteRule(7, None), RuleDeleted, {"version": 4, "state": "DELETED"}, "active"),
    (PAUSED, DeleteRule(7, None), RuleDeleted, {"version": 4, "state": "DELETED"}, "paused"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "command", "kind", "expected", "reason"), ACCEPTED, ids=[case[-1] for case in ACCEPTED]
)
def test_accepted(
    before: Rule | None, command: Any, kind: type[RuleEvent], expected: dict[str, Any], reason: str
) -> None:
    event = decide(before, command, NOW)
    assert type(event) is kind, reason
    assert {name: getattr(event, name) for name in expected} == expected, reason
    after = evolve(before, event)
    assert (after.version, after.state, after.definition) == (event.version, event.state, event.definition)


REFUSED: list[tuple[Rule | None, Any, type[Exception], str]] = [
    (rule(), PublishRule(7, None, SUM, None), WrongState, "the id is taken"),
    (None, PauseRule(7, None), RuleNotFound, "nothing to pause"),
    (None, ChangeRule(7, None, None, SUM, None), RuleNotFound, "nothing to change"),
    (DELETED, ResumeRule(7, None), RuleIsDeleted, "deleted is for good"),
    (DELETED, ChangeRule(7, None, None, SUM, None), RuleIsDeleted, "an id is never used again"),
    (DELETED, DeleteRule(7, frozenset({1})), RuleIsDeleted, "deleted comes before stale"),
    (rule(), DeleteRule(7, frozenset({2})), StaleVersion, "somebody was here in between"),
    (rule(), DeleteRule(7, frozenset()), StaleVersion, "tags that name no version match nothing"),
    (PAUSED, PauseRule(7, frozenset({2})), StaleVersion, "stale comes before the state"),
    (PAUSED, PauseRule(7, None), WrongState, "paused already"),
    (rule(), ResumeRule(7, None), WrongState, "active already"),
    (rule(effective_until=9), ResumeRule(7, None), WrongState, "no pause is its end"),
    (None, PublishRule(7, None, SUM, None, effective_until=NOW), EndsTooEarly, "over as it begins"),
    (rule(), ChangeRule(7, None, None, SUM, 5, 5), EndsTooEarly, "never"),
]


@pytest.mark.parametrize(
    ("before", "command", "error", "reason"), REFUSED, ids=[case[-1] for case in REFUSED]
)
def test_refused(before: Rule | None, command: Any, error: type[Exception], reason: str) -> None:
    with pytest.raises(error):
        decide(before, command, NOW)


def test_a_stale_version_says_the_current_one() -> None:
    with pytest.raises(StaleVersion, match="which is 3") as refused:
        decide(rule(), DeleteRule(7, frozenset({2})), NOW)
    assert refused.value.current == 3


SETTINGS = EngineSettings(max_disorder_seconds=7)


def test_settings_are_an_event_only_where_they_change() -> None:
    first = decide_settings(SettingsState(), ChangeSettings(frozenset({0}), SETTINGS))
    assert first == SettingsChanged(1, SETTINGS)
    assert decide_settings(SettingsState(1, SETTINGS), ChangeSettings(frozenset({1}), SETTINGS)) is None
    with pytest.raises(StaleVersion):
        decide_settings(SettingsState(1, SETTINGS), ChangeSettings(frozenset({0}), SETTINGS))


def test_the_defaults_can_be_written_down() -> None:
    """Version 0 holds by default only: saying the same is an event, from which on it is said."""
    event = decide_settings(SettingsState(), ChangeSettings(None, EngineSettings()))
    assert event == SettingsChanged(1, EngineSettings())


COMMANDS = st.sampled_from([
    ChangeRule(7, None, None, NEW, None), ChangeRule(7, None, "other", SUM, 3), PauseRule(7, None),
    ResumeRule(7, None), DeleteRule(7, None),
])  # fmt: skip


@given(st.lists(COMMANDS, max_size=12))
def test_any_life_of_a_rule_folds_to_its_last_state(commands: list[Any]) -> None:
    events = [decide(None, PublishRule(7, None, SUM, None), NOW)]
    current = evolve(None, events[0])
    for command in commands:
        try:
            event = decide(current, command, NOW)
        except (RuleIsDeleted, WrongState):
            continue
        events.append(event)
        current = evolve(current, event)
    assert fold(events) == current
    assert [event.version for event in events] == list(range(1, len(events) + 1))
    published = [event.version for event in events if isinstance(event, RulePublished)]
    assert current.definition_version == published[-1]
    # Each event stands alone: whoever has the last one has the rule.
    assert events[-1].definition == current.definition
    assert events[-1].definition_version == current.definition_version


def test_a_life_begins_with_its_publication() -> None:
    paused = decide(rule(), PauseRule(7, None), NOW)
    with pytest.raises(ValueError, match="begins with RulePaused"):
        evolve(None, paused)
    assert fold([]) is None
