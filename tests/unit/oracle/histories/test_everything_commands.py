"""Commands and traces in random histories with every option turned on."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.oracle import MicroBatch, judge
from tests.oracle.builders.registry import Registry
from tests.oracle.values.model import Json
from tests.unit.oracle.support.everything import SEEDS, events, histories, outcomes

pytestmark = pytest.mark.slow  # all of them together


def test_every_command_comes() -> None:
    commands = Counter(event.get("command") for history in histories() for event in events(history))
    assert {"CLEAR_STATE_ALL", "CLEAR_STATE_ALL_STOP", "EXPORT_RULES_CURRENT", "DELETE_RULES_ALL"} <= set(
        commands
    )
    assert commands["CLEAR_STATE_ALL"] >= 0.4 * len(SEEDS)


def trace_commands(history: list[MicroBatch]) -> list[dict[str, Json]]:
    """By position, each once."""
    commands = {event["position"]: event for event in events(history) if event.get("command") == "TRACE_RULE"}
    return [commands[position] for position in sorted(commands, key=str)]


def test_traces_come_in_every_way() -> None:
    counts: Counter[str] = Counter()
    for history, outcome in zip(histories(), outcomes(), strict=True):
        commands, traces = trace_commands(history), outcome.traces
        of = Counter(command["ruleId"] for command in commands)
        ends = {command.get("traceUntil") for command in commands}
        kinds = {
            "traced": bool(traces),
            "several": len({trace["ruleId"] for trace in traces}) > 1,
            "replaced": any(of[trace["ruleId"]] > 1 for trace in traces),
            "on the edge": any(record.record_time in ends for batch in history for record in batch.records),
            "alerted": any(trace["alerted"] for trace in traces),
            "late": any(trace["late"] for trace in traces),
            "holds alone": any(trace["holds"] and not trace["alerted"] for trace in traces),
            "unknown": 10**6 in of,
        }
        counts.update(kind for kind, there in kinds.items() if there)
    print({kind: f"{count / len(SEEDS):.2f}" for kind, count in sorted(counts.items())})
    assert counts["traced"] >= 0.4 * len(SEEDS)
    for kind, least in (("several", 0.2), ("replaced", 0.2), ("on the edge", 0.3), ("unknown", 0.1)):
        assert counts[kind] >= least * len(SEEDS), kind
    for kind, least in (("alerted", 0.3), ("late", 0.3), ("holds alone", 0.1)):
        assert counts[kind] >= least * len(SEEDS), kind


def test_rules_are_traced_while_paused_and_after_deletion() -> None:
    states = Counter(state for history in histories() for state in traced_states(history))
    assert min(states[state] for state in ("ACTIVE", "PAUSED", "DELETED", "UNKNOWN")) >= 3


def traced_states(history: list[MicroBatch]) -> list[str]:
    """For each command to trace, the state of its rule by the events before it."""
    state: dict[Json, str] = {}
    kinds: list[str] = []
    for event in sorted(events(history), key=lambda event: int(str(event["position"]))):
        if event["type"] in ("RulePublished", "RulePaused", "RuleResumed", "RuleDeleted"):
            state[event["ruleId"]] = str(event["state"])
        elif event.get("command") == "TRACE_RULE":
            kinds.append(state.get(event["ruleId"], "UNKNOWN"))
    return kinds


def test_what_is_traced_as_alerted_alerts() -> None:
    for outcome in outcomes():
        live = {
            (alert["ruleId"], alert["ruleVersion"], alert["eventTime"], alert["value"])
            for alert in outcome.alerts
            if not alert["partial"]
        }
        told = {
            (trace["ruleId"], trace["version"], trace["eventTime"], trace["value"])
            for trace in outcome.traces
            if trace["alerted"]
        }
        assert told <= live


def test_traced_from_its_publication_a_rule_has_a_record_for_each_evaluation() -> None:
    """Without catch-up: what that judges is counted, but not traced."""
    for history in histories()[:10]:
        outcome = judge(traced_for_good(history), catch_up=False)
        traces = Counter(trace["ruleId"] for trace in outcome.traces)
        assert traces == Counter(
            {rule: counts.evaluations for rule, counts in outcome.counts.items() if counts.evaluations}
        )


def traced_for_good(history: list[MicroBatch]) -> list[MicroBatch]:
    """Each position doubled, and behind each event the command to trace its rule.

    Two events may have the same position, of which the first counts: only that one has a command behind it.
    """
    batches: list[MicroBatch] = []
    traced = set[int]()
    for batch in history:
        made: list[bytes] = []
        for event in events([batch]):
            position = 2 * int(str(event["position"])) - 1
            made.append(json.dumps({**event, "position": position}).encode())
            if position not in traced:
                traced.add(position)
                trace = json.loads(Registry().trace(int(str(event.get("ruleId") or 0)), 2**50, 0))
                made.append(json.dumps({**trace, "position": position + 1}).encode())
        batches.append(MicroBatch(tuple(made), batch.ticks, batch.records))
    return batches
