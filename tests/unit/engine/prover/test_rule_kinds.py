"""Every kind of rule is proven, and whatever is omitted from an alert, added to it or altered in it is named.

So it is with what was judged: a transaction that is omitted from transactions.v1, added to it or altered in it makes
another alert, or none.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any, get_args

import pytest

from tests.unit.engine.prover.support.kinds_history import TYPE, history
from tests.unit.engine.prover.support.proofs import Run, judged
from tests.unit.engine.prover.support.rule_kinds import JUDGED_AGAIN, KINDS, LATER
from tripline_contracts.filters.leaf_reader import WORDS
from tripline_contracts.rules.aggregate import FUNCTIONS
from tripline_contracts.rules.definition_members import EXCERPT, RULE_MEMBERS
from tripline_contracts.spelling import Operator
from tripline_engine.domain.proof.claim import Claim
from tripline_engine.domain.proof.differences import differences
from tripline_engine.kafka_log.record import Record
from tripline_engine.topic_names import TRANSACTIONS

STRANGE = "t-strange"
NAMES = [*KINDS, *(f"{name}, published later" for name in LATER)]
NOT_COMPARED = ("mode",)
BOTH = {"added", "missing"}
SILENT: dict[str, set[str]] = {
    "equal": BOTH,  # to so many, neither fewer nor more
    "less": {"missing"},
    "not": {"missing"},
    "crossing": BOTH,  # another one crosses
    "crossing of conditions": BOTH,
    "resetOnAlert": {"missing"},  # another one resets
    "reset of a sum": {"missing"},
    "reevaluate an extreme": {"added"},  # it was the extreme
    "crossing, published later": BOTH,
    "resetOnAlert, published later": BOTH,
}
"""Of these there is no such alert once what the alert lists is not all that counts (`missing`), or more (`added`)."""
Lists = list[tuple[str, dict[str, Any]]]


@pytest.fixture(autouse=True)
def _quiet() -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)


def run_of(name: str) -> tuple[Run, list[dict[str, Any]]]:
    """The history under that rule, and its alerts; one that comes later finds what others had kept until then."""
    body = KINDS[name.split(",", maxsplit=1)[0]]
    before = [] if name in KINDS else [KINDS["COUNT"], KINDS["party"]]
    batches = history([*before, body]) if name in KINDS else history(before, [body])
    run = judged(batches, event_type=TYPE)
    return run, [alert for alert in run.alerts if alert["ruleId"] == len(before) + 1]


def lists_of(alert: dict[str, Any]) -> Lists:
    """Its lists of contributors with their paths: of the value, of each condition, of each limit that is measured."""
    if "conditions" not in alert:
        return [("contributors", alert["contributors"])]
    lists: Lists = []
    for number, condition in enumerate(alert["conditions"]):
        path = f"conditions[{number}]"
        lists.append((f"{path}.contributors", condition["contributors"]))
        if "limitMeasure" in condition:
            lists.append((f"{path}.limitMeasure.contributors", condition["limitMeasure"]["contributors"]))
    return lists


@pytest.mark.parametrize("name", NAMES)
def test_it_is_proven_and_what_was_changed_is_named(name: str) -> None:
    run, alerts = run_of(name)
    assert len(alerts) >= 4
    assert any(alert["partial"] for alert in alerts) == (name not in KINDS or name in JUDGED_AGAIN)
    for alert in (alerts[0], alerts[len(alerts) // 2], *(one for one in alerts if one["partial"]))[:4]:
        verification = run.verify(alert)
        assert verification.matches, [one.to_json() for one in verification.differences]
    alert = max(reversed(alerts), key=lambda one: sum(part["count"] for _, part in lists_of(one)))
    derived = run.verify(alert).derivation.alert
    assert derived is not None
    assert differences(alert, derived) == []
    assert changed_contributors(alert, derived), "no list of it has contributors"
    every_member_is_compared(alert, derived)
    assert changed_records(run, alert) == set(SILENT.get(name, ()))


def changed_contributors(alert: dict[str, Any], derived: dict[str, Any]) -> int:
    """Of each list one is left out, put in, changed; how many lists had any."""
    tried = 0
    for number, (path, contributors) in enumerate(lists_of(alert)):
        listed = contributors["transactions"]
        if not listed:
            continue
        tried += 1
        one, strange = listed[-1], {**listed[0], "transactionId": STRANGE}
        other = {**one, "eventTime": one["eventTime"] - 1}
        for transactions, expected in (
            (listed[:-1], ("missing", None, one)),
            ([strange, *listed], ("added", strange, None)),
            ([*listed[:-1], other], ("altered", other, one)),
        ):
            forged = deepcopy(alert)
            lists_of(forged)[number][1]["transactions"] = transactions
            assert Claim.of(forged, TYPE) == Claim.of(alert, TYPE)
            told = [
                (said.kind, said.stored, said.derived, said.member) for said in differences(forged, derived)
            ]
            assert told == [(*expected, f"{path}.transactions")]
    return tried


def every_member_is_compared(alert: dict[str, Any], derived: dict[str, Any]) -> None:
    """Whatever else the alert says: another number, word or nothing in its place is named by its path."""
    for path, forged in forged_members(alert):
        if path not in NOT_COMPARED:
            told = [(said.kind, said.member) for said in differences(forged, derived)]
            assert told == [("member", path)]


def forged_members(alert: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The alert with one leaf changed, for each leaf that is in no list of contributors; and the leaf's path."""
    for steps in leaves(alert):
        forged = deepcopy(alert)
        part: Any = forged
        for step in steps[:-1]:
            part = part[step]
        part[steps[-1]] = "something else"
        yield member(steps), forged


def leaves(part: Any, steps: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    if not isinstance(part, (dict, list)):
        yield steps
    for name, value in inner:
        if name != "transactions":
            yield from leaves(value, (*steps, name))


def member(steps: tuple[str | int, ...]) -> str:
    """Its path, as differences have it: of what is in lists other than those of conditions, the list's."""
    path = ""
    for number, step in enumerate(steps):
        if isinstance(step, int) and steps[number - 1] != "conditions":
            return path
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    return path


def changed_records(run: Run, alert: dict[str, Any]) -> set[str]:
    """A contributor is left out of transactions.v1, put in, changed: it is named, or no such alert comes of it.

    :returns: the changes of which none comes
    """
    kept, silent = run.recording.topics[TRANSACTIONS].kept, set()
    before, trigger = kept[0], alert["transaction"]["transactionId"]
    listed = [one["transactionId"] for _, part in lists_of(alert) for one in part["transactions"]]
    victim = [contributor for contributor in listed if contributor not in (trigger, "t4")][-1]
    for kind, contributor, records in (
        ("added", victim, omit(before, victim)),
        ("missing", STRANGE, put_in(before, victim, trigger)),
        ("altered", victim, alter(before, victim)),
    ):
        kept[0] = records
        verification = run.verify(alert)
        kept[0] = before
        assert not verification.matches
        named = {
            (one.kind, (one.stored or one.derived)["transactionId"])
            for one in verification.differences
            if one.kind in ("added", "missing", "altered")
        }
        if verification.derivation.alert is None:
            assert [one.kind for one in verification.differences][-1] == "not_derived"
            silent.add(kind)
        else:
            assert (kind, contributor) in named
    return silent


def omit(records: list[Record], victim: str) -> list[Record]:
    return [record for record in records if id_of(record) != victim]


def put_in(records: list[Record], victim: str, before: str) -> list[Record]:
    """In the place of a stranger's near it, so that offsets stay: the same but for the id and the time."""
    number, end = int(victim.removeprefix("t")), int(before.removeprefix("t"))
    stranger = f"t{min(range(0, end, 5), key=lambda other: (other < number, abs(other - number)))}"
    like = json.loads(next(record for record in records if id_of(record) == victim).value or b"")
    value = json.dumps({**like, "transactionId": STRANGE, "eventTime": like["eventTime"] + 1}).encode()
    return [replace(record, value=value) if id_of(record) == stranger else record for record in records]


def alter(records: list[Record], victim: str) -> list[Record]:
    """Its event time by a millisecond: everything else may say nothing to the rule."""
    return [
        replace(record, value=json.dumps({**fields, "eventTime": fields["eventTime"] + 1}).encode())
        if (fields := json.loads(record.value or b""))["transactionId"] == victim
        else record
        for record in records
    ]


def id_of(record: Record) -> str:
    return str(json.loads(record.value or b"")["transactionId"])


def test_every_word_of_the_language_is_in_one_of_them() -> None:
    words: set[str] = set()

    def read(part: Any) -> None:
        for name, value in part.items() if isinstance(part, dict) else ():
            words.update((name, value) if isinstance(value, str) else (name,))
            read(value)
        for value in part if isinstance(part, list) else ():
            read(value)

    read([*KINDS.values()])
    options = {"crossing", "reevaluate", "store", "bucketed(300)", "list", "parameter", "any", "all", "not"}
    weights = {"weighted", "weight", "atLeast"}
    limits = {"measure", "times", "plus", "plusDeviations", "step", "payer", "payee"}
    grammar = {*FUNCTIONS, *get_args(Operator), *WORDS, *RULE_MEMBERS, *EXCERPT, *options, *weights, *limits}
    # other ways to say COUNT_DISTINCT and windowSeconds
    assert grammar - words == {"unique", "windowMinutes"}
