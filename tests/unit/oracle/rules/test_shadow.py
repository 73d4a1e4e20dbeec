"""A shadow judges beside its rule; its alerts are told apart, and nobody else is any different for it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part, batch, draft, one_by_one, payment
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
SECOND = 1000
EACH = draft("COUNT", ">=", "1", by=("payeeId",), seconds=60)
TWO = draft("COUNT", ">=", "2", by=("payeeId",), seconds=60)


def told(alerts: list[dict[str, Json]]) -> list[tuple[object, object, object]]:
    """Seconds after T, version and value of each alert."""
    rows: list[tuple[object, object, object]] = []
    for alert in alerts:
        assert isinstance(alert["eventTime"], int)
        rows.append(((alert["eventTime"] - T) // SECOND, alert["ruleVersion"], alert["value"]))
    return rows


def paid(*seconds: int, first: int = 0) -> list[Record]:
    """A payment of one group at each of these seconds after T."""
    return [payment(n, T + second * SECOND) for n, second in enumerate(seconds, first)]


class Rule:
    """Rule 1 with a shadow, written event by event."""

    def __init__(self, active: Draft = TWO) -> None:
        self.registry = Registry()
        self.published = self.registry.publish(1, active, 0, 0)

    def start(self, shadow: Draft, since: int = 0) -> bytes:
        return self.registry.start_shadow(1, shadow, since, 0)

    def promote(self) -> bytes:
        return self.registry.promote_shadow(1, 0)

    def end(self) -> bytes:
        return self.registry.end_shadow(1, 0)


def outcome_of(*steps: Part) -> Outcome:
    """Each step a micro-batch of its own; a number is a tick, in seconds after T."""
    return judge(one_by_one(T, *steps))


def test_it_judges_beside_the_rule_and_its_alerts_are_told_apart() -> None:
    rule = Rule()
    outcome = outcome_of(rule.published, rule.start(EACH), *paid(1, 2))
    assert told(outcome.alerts) == [(2, 1, "2")]
    assert told(outcome.shadow_alerts) == [(1, 2, "1"), (2, 2, "2")]
    assert {alert["mode"] for alert in outcome.alerts} == {"live"}
    assert {alert["mode"] for alert in outcome.shadow_alerts} == {"shadow"}


def test_it_catches_nothing_up() -> None:
    rule = Rule()
    outcome = outcome_of(rule.published, *paid(1), rule.start(EACH, T + 3 * SECOND), *paid(2, 3, first=1))
    # the window holds what was before it all the same
    assert told(outcome.shadow_alerts) == [(3, 2, "3")]


def test_promoted_it_gives_what_it_would_have_given() -> None:
    rule, same = Rule(), Rule()
    promoted = outcome_of(rule.published, rule.start(EACH), *paid(1), rule.promote(), *paid(2, 3, first=1))
    shadow = outcome_of(same.published, same.start(EACH), *paid(1, 2, 3))
    assert told(promoted.shadow_alerts) == [(1, 2, "1")]
    assert told(promoted.alerts) == [(2, 2, "2"), (3, 2, "3")]
    given = [*promoted.shadow_alerts, *promoted.alerts]
    assert [{**alert, "mode": "shadow"} for alert in given] == shadow.shadow_alerts


def test_promoted_it_knows_what_it_knew() -> None:
    quiet = replace(EACH, cooldown=10)
    rule = Rule()
    outcome = outcome_of(rule.published, rule.start(quiet), *paid(1), rule.promote(), *paid(2, 11, first=1))
    assert told(outcome.shadow_alerts) == [(1, 2, "1")]
    assert told(outcome.alerts) == [(11, 2, "3")]


def test_before_it_began_the_old_version_judges_on_after_the_promotion() -> None:
    rule = Rule()
    start = rule.start(EACH, T + 5 * SECOND)
    outcome = outcome_of(rule.published, start, rule.promote(), *paid(3, 4, 6))
    assert told(outcome.alerts) == [(4, 1, "2"), (6, 2, "3")]


def test_what_it_judged_as_a_shadow_nobody_catches_up() -> None:
    registry = Registry()
    later = registry.publish(1, TWO, T + 100 * SECOND, 0)
    shadow = registry.start_shadow(1, EACH, T, 0)
    promoted, again = registry.promote_shadow(1, 0), registry.publish(1, EACH, T, 0)
    outcome = outcome_of(later, shadow, *paid(1), promoted, again, *paid(2, first=1))
    assert told(outcome.shadow_alerts) == [(1, 2, "1")]
    assert told(outcome.alerts) == [(2, 4, "2")]


def test_a_pause_holds_both_and_a_clear_is_of_both() -> None:
    rule = Rule()
    start = rule.start(EACH)
    pause = rule.registry.move("RulePaused", "PAUSED", 1, 0)
    resume = rule.registry.move("RuleResumed", "ACTIVE", 1, 0)
    clear = rule.registry.clear_rule(1)
    steps: list[Part] = [start, pause, *paid(1), resume, *paid(2, first=1), clear, *paid(3, first=2)]
    outcome = outcome_of(rule.published, *steps)
    assert told(outcome.alerts) == [(2, 1, "2")]
    assert told(outcome.shadow_alerts) == [(2, 2, "2"), (3, 2, "1")]


def test_it_ends_by_its_end_by_another_start_and_by_a_new_definition() -> None:
    rule = Rule()
    steps: list[Part] = [rule.start(EACH), *paid(1), rule.end(), *paid(2, first=1)]
    steps += [rule.start(EACH), *paid(3, first=2), rule.start(EACH), *paid(4, first=3)]
    steps += [rule.registry.publish(1, replace(TWO, limit=TWO.limit * 50), 0, 0), *paid(5, first=4)]
    steps += [rule.start(EACH), rule.registry.move("RuleDeleted", "DELETED", 1, 0), *paid(6, first=5)]
    outcome = outcome_of(rule.published, *steps)
    assert told(outcome.shadow_alerts) == [(1, 2, "1"), (3, 4, "3"), (4, 5, "4")]
    assert told(outcome.alerts) == [(2, 1, "2"), (3, 1, "3"), (4, 1, "4")]


@pytest.mark.parametrize("named", [1, 3, 4])
def test_only_the_shadow_that_runs_is_promoted(named: int) -> None:
    """Else nothing is taken until an event that can be read has come there."""
    rule = Rule()
    published, start = rule.published, rule.start(EACH)
    promotion = json.loads(rule.promote()) | {"definitionVersion": named}
    outcome = outcome_of(published, start, json.dumps(promotion).encode(), *paid(1))
    assert outcome.skipped_rule_events == 1
    assert told(outcome.shadow_alerts) == [(1, 2, "1")]
    assert not outcome.alerts


def test_of_no_rule_nothing_comes() -> None:
    rule = Rule()
    start = rule.start(EACH)
    foreign = json.dumps(json.loads(start) | {"ruleId": 7, "position": 1}).encode()
    outcome = outcome_of(foreign, *paid(1))
    assert (outcome.skipped_rule_events, outcome.statuses, outcome.shadow_alerts) == (0, [], [])


def test_it_is_neither_counted_nor_traced() -> None:
    rule = Rule()
    steps: list[Part] = [rule.published, rule.start(EACH), rule.registry.trace(1, T + 10**6, 0), *paid(1, 2)]
    outcome = outcome_of(*steps)
    assert outcome.counts[1].evaluations == 2
    assert [trace["version"] for trace in outcome.traces] == [1, 1]


def test_what_is_kept_for_it_no_other_rule_sees() -> None:
    """Five hours of history for the shadow; a rule made later sees the quarter of an hour that is kept for all."""
    wide = replace(TWO, window=5 * 3600)
    rule = Rule()
    hours = 3600

    def judged(*shadow: bytes) -> Outcome:
        late = rule.registry.publish(2, wide, 0, 0)
        steps: list[Part] = [*paid(0), 0.0, float(4 * hours), late, *paid(4 * hours, first=1)]
        return outcome_of(rule.published, *shadow, *steps)

    start = rule.start(wide)
    with_shadow, without = judged(start), judged()
    assert told(with_shadow.shadow_alerts) == [(4 * hours, 2, "2")]
    assert with_shadow.alerts == without.alerts == []


def test_promoted_it_goes_on_seeing_what_was_kept_for_it() -> None:
    hours, wide = 3600, replace(TWO, window=5 * 3600)
    rule = Rule()
    steps: list[Part] = [rule.start(wide), *paid(0), 0.0, float(4 * hours), rule.promote()]
    late = rule.registry.publish(2, wide, 0, 0)
    outcome = outcome_of(rule.published, *steps, late, float(4 * hours + 1), *paid(4 * hours + 1, first=1))
    assert [alert["ruleId"] for alert in outcome.alerts] == [1]
    assert told(outcome.alerts) == [(4 * hours + 1, 2, "2")]


def test_its_buckets_are_its_own() -> None:
    """A rule with the same buckets, made later, has them from its own beginning on."""
    hours = 3600
    buckets = replace(TWO, window=5 * hours, bucket=60)
    rule = Rule()

    def judged(*shadow: bytes) -> Outcome:
        late = rule.registry.publish(2, buckets, 0, 0)
        steps: list[Part] = [*paid(0), 0.0, float(4 * hours), late, *paid(4 * hours, first=1)]
        return outcome_of(rule.published, *shadow, *steps)

    start = rule.start(buckets)
    with_shadow, without = judged(start), judged()
    assert told(with_shadow.shadow_alerts) == [(4 * hours, 2, "2")]
    assert with_shadow.alerts == without.alerts == []


def test_it_begins_no_anchor() -> None:
    """With anchors on demand; what a rule begins it sees from there on."""
    rule = Rule(replace(TWO, grouping=("beneficiaryId",)))
    start, other = rule.start(EACH), rule.registry.publish(2, TWO, T + 10 * SECOND, 0)
    steps = [batch(events=[rule.published, start])] + [batch(records=[record]) for record in paid(1)]
    steps += [batch(events=[other])] + [batch(records=[record]) for record in paid(2, 11, first=1)]
    outcome = judge(steps, kept=())
    assert told(outcome.shadow_alerts) == [(2, 2, "1"), (11, 2, "2")]
    assert [(alert["ruleId"], alert["value"]) for alert in outcome.alerts] == [(1, "2"), (1, "3"), (2, "2")]


@pytest.mark.parametrize("shadow", [replace(EACH, firing="crossing"), replace(EACH, cooldown=60)])
def test_with_its_anchor_its_firing_state_is_forgotten(shadow: Draft) -> None:
    """Rule 2 alone needs the anchor of rule 1's shadow, goes, and rule 3 needs it anew."""
    rule = Rule(replace(TWO, grouping=("beneficiaryId",)))
    start = rule.start(shadow)
    needs = rule.registry.publish(2, TWO, 0, 0)
    gone = rule.registry.move("RuleDeleted", "DELETED", 2, 0)
    anew, records = rule.registry.publish(3, TWO, 0, 0), paid(1, 2, 3, 4)
    steps = [batch(events=[rule.published, start, needs]), batch(records=records[:2])]
    steps += [batch(events=[gone, anew]), batch(records=records[2:])]
    assert told(judge(steps, kept=()).shadow_alerts) == [(1, 2, "1"), (3, 2, "1")]
    assert told(judge(steps).shadow_alerts) == [(1, 2, "1")]
