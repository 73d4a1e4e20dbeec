"""Entries of a list over the whole line: from the registry's answer to alerts, and gone again when they end."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

import httpx
import pytest

from tests.e2e.support.line import Line, applied
from tests.e2e.support.stored_alerts import stored_names
from tests.e2e.support.verdict import read_verdict, taken
from tests.e2e.support.waiting import eventually
from tests.stack import RunningStack

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

FILLERS = 25_000
PAYEES = [str(number) for number in range(12)]


@pytest.fixture(scope="module")
def line(running_stack: RunningStack) -> Line:
    return Line(running_stack)


def rule_on(listed: str, name: str) -> dict[str, object]:
    """A rule that alerts at each payment of a payee in the list."""
    return {
        "name": name,
        "groupingKeyNames": ["payeeId"],
        "aggregatorFunctionType": "COUNT",
        "limitOperatorType": ">",
        "limit": "0",
        "windowSeconds": 60,
        "filter": {"field": "payeeId", "in": {"list": listed}},
    }


def seconds_until_applied(client: httpx.Client, body: dict[str, object]) -> tuple[int, float]:
    """A new rule's id, and the time from the registry's answer until all shards have it."""
    rule_id = int(client.post("/v1/rules", json=body).raise_for_status().json()["ruleId"])
    begin = time.monotonic()
    eventually(lambda: rule_id in applied(client), "the rule is applied")
    return rule_id, time.monotonic() - begin


@pytest.mark.timeout(600)
def test_entries_count_once_the_next_rule_does(
    line: Line, running_stack: RunningStack, record_property: Callable[[str, object], None]
) -> None:
    listed, name = f"l-{uuid.uuid4()}", f"watched {uuid.uuid4()}"
    path = f"/v1/lists/{listed}"
    with running_stack.registry() as client, line.traffic(seed=20, rate=20, payees=4, beneficiaries=3):
        client.put(path, json={"values": ["nobody"]}).raise_for_status()
        # long enough for files beside the state store
        csv = "".join(f"filler-{number:06}\n" for number in range(FILLERS))
        client.post(f"{path}/imports", content=csv, headers={"Content-Type": "text/csv"}).raise_for_status()
        rule_id, of_rule = seconds_until_applied(client, rule_on(listed, name))
        assert name not in stored_names(line.postgres)
        client.post(
            f"{path}/entries", json={"entries": [{"value": payee} for payee in PAYEES]}
        ).raise_for_status()
        begin = time.monotonic()
        # events are applied in their order: what comes after it is applied no sooner
        next_id, _ = seconds_until_applied(client, rule_on(listed, f"{name}, again"))
        of_entry = time.monotonic() - begin
        eventually(lambda: name in stored_names(line.postgres), "the first alert of an entry is stored")
        until = time.time_ns() // 1_000_000 + 2_000
        ends = [{"value": payee, "until": until} for payee in PAYEES]
        client.post(f"{path}/entries", json={"entries": ends}).raise_for_status()
        eventually(lambda: client.get(path).json()["size"] == FILLERS + 1, "the entries have ended")
        for ended in (rule_id, next_id):
            tag = client.get(f"/v1/rules/{ended}").headers["ETag"]
            client.delete(f"/v1/rules/{ended}", headers={"If-Match": tag}).raise_for_status()
    eventually(lambda: taken(line.log), "the engine has judged all payments")
    read_verdict(line.log).assert_equal()
    record_property(
        "told", f"applied after {of_rule:.2f} s (a rule), {of_entry:.2f} s (entries, by the next rule)"
    )
