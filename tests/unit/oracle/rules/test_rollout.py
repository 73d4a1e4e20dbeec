"""A shadow that is rolled out tells of some groups in its rule's place; all else stays as it is.

Group 25 of rule 1 by payee has bucket 34: `printf '1:{"payeeId":"25"}' | sha256sum`, its first 16 digits modulo 100.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.oracle import Outcome, Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part, draft, one_by_one, payment
from tests.oracle.values.canonical_json import bucket
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
SECOND = 1000
EACH = draft("COUNT", ">=", "1", by=("payeeId",), seconds=60)
TWO = draft("COUNT", ">=", "2", by=("payeeId",), seconds=60)
BUCKET = 34
"""Of the one group; another has it at another place."""
OTHER, OTHER_BUCKET = 26, 49


def told(alerts: list[dict[str, Json]]) -> list[tuple[int, Json]]:
    """Seconds after T, and version, of each alert."""
    rows: list[tuple[int, Json]] = []
    for alert in alerts:
        assert isinstance(alert["eventTime"], int)
        rows.append(((alert["eventTime"] - T) // SECOND, alert["ruleVersion"]))
    return rows


def paid(*seconds: int, first: int = 0, payee: int = 25) -> list[Record]:
    """A payment of one group at each of these seconds after T."""
    return [
        payment(n, T + second * SECOND, more={"payeeId": payee}) for n, second in enumerate(seconds, first)
    ]


class Rule:
    """Rule 1 with a shadow, written event by event."""

    def __init__(self, shadow: Draft = EACH, since: int = 0, active: Draft = TWO) -> None:
        self.registry = Registry()
        self.begun = [
            self.registry.publish(1, active, 0, 0),
            self.registry.start_shadow(1, shadow, since, 0),
        ]

    def roll_out(self, percent: int) -> bytes:
        return self.registry.roll_out_shadow(1, percent, 0)

    def promote(self) -> bytes:
        return self.registry.promote_shadow(1, 0)

    def end(self) -> bytes:
        return self.registry.end_shadow(1, 0)


def outcome_of(*steps: Part) -> Outcome:
    """Each step a micro-batch of its own; a number is a tick, in seconds after T."""
    return judge(one_by_one(T, *steps))


def test_the_groups_are_those_of_the_buckets() -> None:
    assert bucket(1, {"payeeId": "25"}) == BUCKET
    assert bucket(1, {"payeeId": str(OTHER)}) == OTHER_BUCKET


@pytest.mark.parametrize(("percent", "is_on_trial"), [(1, False), (34, False), (35, True), (99, True)])
def test_of_a_group_on_trial_the_shadow_tells_and_the_rule_is_told_apart(
    percent: int, is_on_trial: bool
) -> None:
    rule = Rule()
    outcome = outcome_of(*rule.begun, rule.roll_out(percent), *paid(1, 2))
    of_rule, of_shadow = [(2, 1)], [(1, 2), (2, 2)]
    assert told(outcome.alerts) == (of_shadow if is_on_trial else of_rule)
    assert told(outcome.shadow_alerts) == (of_rule if is_on_trial else of_shadow)
    assert {alert["mode"] for alert in outcome.alerts} == {"live"}
    assert {alert["mode"] for alert in outcome.shadow_alerts} == {"shadow"}


def test_each_group_goes_by_its_own_bucket() -> None:
    rule = Rule()
    others = paid(3, 4, first=2, payee=OTHER)
    outcome = outcome_of(*rule.begun, rule.roll_out(40), *paid(1, 2), *others)
    assert told(outcome.alerts) == [(1, 2), (2, 2), (4, 1)]
    assert told(outcome.shadow_alerts) == [(2, 1), (3, 2), (4, 2)]


def test_widening_takes_groups_over_and_catches_nothing_up() -> None:
    rule = Rule()
    steps: list[Part] = [rule.roll_out(10), *paid(1), rule.roll_out(35), *paid(2, first=1), rule.roll_out(60)]
    outcome = outcome_of(*rule.begun, *steps, *paid(3, first=2))
    assert told(outcome.alerts) == [(2, 2), (3, 2)]
    assert told(outcome.shadow_alerts) == [(1, 2), (2, 1), (3, 1)]


def test_alerts_are_the_same_wherever_they_go() -> None:
    """Ids, windows and firing state: a cooldown that began in one topic holds in the other."""
    quiet = replace(EACH, cooldown=10)
    rule, same = Rule(quiet), Rule(quiet)
    rolled_out = outcome_of(*rule.begun, *paid(1), rule.roll_out(50), *paid(2, 12, first=1))
    shadow = outcome_of(*same.begun, *paid(1, 2, 12))
    assert told(rolled_out.shadow_alerts) == [(1, 2), (2, 1), (12, 1)]
    assert told(rolled_out.alerts) == [(12, 2)]
    unmarked = [
        sorted(json.dumps({**alert, "mode": None}) for alert in [*outcome.alerts, *outcome.shadow_alerts])
        for outcome in (rolled_out, shadow)
    ]
    assert unmarked[0] == unmarked[1]


def test_with_its_end_all_groups_are_the_rules_own() -> None:
    rule = Rule()
    outcome = outcome_of(*rule.begun, rule.roll_out(50), *paid(1, 2), rule.end(), *paid(3, first=2))
    assert told(outcome.alerts) == [(1, 2), (2, 2), (3, 1)]
    assert told(outcome.shadow_alerts) == [(2, 1)]


def test_another_start_begins_at_no_group() -> None:
    rule = Rule()
    again = rule.registry.start_shadow
    outcome = outcome_of(*rule.begun, rule.roll_out(50), again(1, EACH, 0, 0), *paid(1, 2))
    assert told(outcome.alerts) == [(2, 1)]
    assert told(outcome.shadow_alerts) == [(1, 4), (2, 4)]


def test_promoted_it_tells_of_all_groups() -> None:
    rule = Rule()
    steps: list[Part] = [rule.roll_out(40), *paid(1, payee=OTHER), rule.promote()]
    outcome = outcome_of(*rule.begun, *steps, *paid(2, first=1, payee=OTHER), *paid(3, first=2))
    assert told(outcome.alerts) == [(2, 2), (3, 2)]
    assert told(outcome.shadow_alerts) == [(1, 2)]


def test_what_the_shadow_does_not_judge_is_the_rules_own() -> None:
    """Before its `effectiveFrom`: else nobody would be told."""
    rule = Rule(since=T + 3 * SECOND)
    outcome = outcome_of(*rule.begun, rule.roll_out(99), *paid(1, 2, 3))
    assert told(outcome.alerts) == [(2, 1), (3, 2)]
    assert told(outcome.shadow_alerts) == [(3, 1)]


def test_nor_what_comes_after_its_time() -> None:
    rule = Rule()
    published, start = rule.begun
    ending = json.dumps(json.loads(start) | {"effectiveUntil": T + 3 * SECOND}).encode()
    rolled_out = json.dumps(json.loads(rule.roll_out(99)) | {"effectiveUntil": T + 3 * SECOND}).encode()
    outcome = outcome_of(published, ending, rolled_out, *paid(1, 2, 3))
    assert told(outcome.alerts) == [(1, 2), (2, 2), (3, 1)]
    assert told(outcome.shadow_alerts) == [(2, 1)]


def test_a_pause_and_a_clear_leave_the_share_as_it_is() -> None:
    rule = Rule()
    pause = rule.registry.move("RulePaused", "PAUSED", 1, 0)
    roll_out = rule.roll_out(35)
    resume = rule.registry.move("RuleResumed", "ACTIVE", 1, 0)
    clear = rule.registry.clear_rule(1)
    steps: list[Part] = [pause, roll_out, *paid(1), resume, clear, *paid(2, first=1)]
    outcome = outcome_of(*rule.begun, *steps)
    assert told(outcome.alerts) == [(2, 2)]
    assert not outcome.shadow_alerts


def test_what_is_judged_again_goes_where_its_group_is_told() -> None:
    again = replace(TWO, late_events="reevaluate")
    rule = Rule(again, active=again)
    steps: list[Part] = [*paid(10), rule.roll_out(35), *paid(5, first=1)]
    outcome = outcome_of(*rule.begun, *steps)
    assert told(outcome.alerts) == [(10, 2)]
    assert told(outcome.shadow_alerts) == [(10, 1)]
    assert all(alert["partial"] for alert in [*outcome.alerts, *outcome.shadow_alerts])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"percent": 20}, "as wide as it is"),
        ({"percent": 19}, "narrower"),
        ({"percent": 0}, "none"),
        ({"percent": 100}, "all, which is a promotion"),
        ({"percent": -1}, "below none"),
        ({"percent": "50"}, "a text"),
        ({"percent": True}, "no number"),
        ({"percent": None}, "nothing"),
        ({"definitionVersion": 1}, "the rule's own version"),
        ({"definitionVersion": 4}, "a version that there is not"),
    ],
)
def test_what_widens_nothing_or_is_of_no_shadow_cannot_be_read(change: dict[str, Json], reason: str) -> None:
    """Nothing is taken until an event that can be read has come there."""
    rule = Rule()
    first = rule.roll_out(20)
    wrong = json.dumps(json.loads(rule.roll_out(50)) | change).encode()
    outcome = outcome_of(*rule.begun, first, wrong, *paid(1, 2))
    assert outcome.skipped_rule_events == 1, reason
    assert told(outcome.alerts) == [(2, 1)], reason


def test_it_says_from_when_on_the_shadow_is_warm() -> None:
    rule = Rule(replace(EACH, window=3600))
    outcome = outcome_of(0.0, *rule.begun, rule.roll_out(50))
    started, rolled_out = outcome.statuses[1:]
    assert rolled_out == {**started, "version": 3, "position": 3}
