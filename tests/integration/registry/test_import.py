"""Rule files over HTTP, on a real Postgres: both forms as they are found, a result per line, all or nothing."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.registry import DEFINITION, RegistryApi

pytestmark = pytest.mark.integration

EXAMPLES = Path(__file__).parents[3] / "contracts" / "src" / "tripline_contracts" / "examples" / "rules"


def send(client: httpx.Client, body: str | bytes, kind: str = "text/plain", **query: str) -> httpx.Response:
    return client.post("/v1/rules/import", content=body, params=query, headers={"Content-Type": kind})


def line(rule_id: int, minutes: int = 20) -> str:
    return f"({rule_id}),(active),(payeeId&beneficiaryId),(),(paymentAmount),(SUM),(>),(1000.01),({minutes})"


@pytest.fixture
def ids(client: httpx.Client) -> tuple[int, int, int]:
    """Three ids that no rule has had."""
    fresh = client.post("/v1/rules", json=dict(DEFINITION)).json()["ruleId"] + 10
    return fresh, fresh + 1, fresh + 2


def last_position(client: httpx.Client) -> int:
    return int(client.get("/v1/widest-windows").json()["position"])


def test_the_demo_s_rules_in_both_forms(client: httpx.Client, ids: tuple[int, int, int]) -> None:
    base = ids[0] - 1
    plain = [path.read_text(encoding="utf-8").strip() for path in sorted(EXAMPLES.glob("demo-*.txt"))]
    moved = [f"{base + number},{text.split(',', 1)[1]}" for number, text in enumerate(plain, start=1)]
    taken = send(client, "\n".join(moved))
    assert taken.status_code == 200, taken.text
    assert [result["outcome"] for result in taken.json()["results"]] == ["published"] * 4
    rules = [client.get(f"/v1/rules/{base + number}").json() for number in (1, 2, 3, 4)]
    assert [rule["state"] for rule in rules] == ["ACTIVE", "PAUSED", "ACTIVE", "ACTIVE"]
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(EXAMPLES.glob("demo-*.json"))]
    texts = [json.dumps({**record, "ruleId": str(base + int(record["ruleId"]))}) for record in records]
    again = send(client, "\n".join(texts), "application/x-ndjson")
    assert again.status_code == 200, again.text
    assert [result["outcome"] for result in again.json()["results"]] == [
        "changed", "unchanged", "changed", "changed",
    ]  # fmt: skip
    for rule in rules:
        now = client.get(f"/v1/rules/{rule['ruleId']}").json()
        assert (now["definitionHash"], now["state"]) == (rule["definitionHash"], rule["state"])


def test_a_result_per_line(client: httpx.Client, ids: tuple[int, int, int]) -> None:
    one, two, _ = ids
    before = last_position(client)
    lines = [line(one), "", "garbage", f"{one},pause", f"{two},pause", line(one, 5), f"{one},delete"]
    answer = send(client, "\r\n".join(lines)).json()
    assert (answer["applied"], answer["unchanged"], answer["refused"]) == (4, 0, 2)
    shown = [(r["line"], r["outcome"], r["version"], r["lastPosition"]) for r in answer["results"]]
    assert shown == [
        (1, "published", 1, before + 1),
        (3, "refused", None, None),
        (4, "paused", 2, before + 2),
        (5, "refused", None, None),
        (6, "changed", 4, before + 4),
        (7, "deleted", 5, before + 5),
    ]
    assert answer["results"][3]["errors"] == [{"field": "ruleId", "message": f"There is no rule {two}."}]
    kinds = [event["type"] for event in client.get(f"/v1/rule-events?ruleId={one}").json()["items"]]
    assert kinds == ["RulePublished", "RulePaused", "RulePublished", "RuleResumed", "RuleDeleted"]
    again = send(client, line(one))
    assert (again.status_code, "was deleted" in again.text) == (422, True), "ids are never used again"


def test_all_or_nothing(client: httpx.Client, ids: tuple[int, int, int]) -> None:
    one, two, three = ids
    before = last_position(client)
    refused = send(client, f"{line(one)}\n{line(two)}\n{three},pause", atomic="true")
    assert (refused.status_code, refused.headers["Content-Type"]) == (422, "application/problem+json")
    problem = refused.json()
    assert problem["type"] == "urn:tripline:problem:import-refused"
    assert [result["outcome"] for result in problem["results"]] == ["published", "published", "refused"]
    assert problem["errors"] == [{"field": "lines.3.ruleId", "message": f"There is no rule {three}."}]
    assert last_position(client) == before
    assert client.get(f"/v1/rules/{one}").status_code == 404
    taken = send(client, f"{line(one)}\n{line(two)}", atomic="true")
    assert (taken.status_code, last_position(client)) == (200, before + 2)


def test_json_with_a_name_and_a_time(client: httpx.Client, ids: tuple[int, int, int]) -> None:
    record: dict[str, Any] = {
        **DEFINITION,
        "name": "Much",
        "ruleId": ids[0],
        "ruleState": "Active",
        "effectiveFrom": 5,
    }
    answer = send(client, json.dumps(record, indent=2), "application/json")
    assert answer.status_code == 200, answer.text
    rule = client.get(f"/v1/rules/{ids[0]}").json()
    assert (rule["name"], rule["effectiveFrom"]) == ("Much", 5)
    both = [{**record, "name": "n"}, {"ruleId": ids[0], "ruleState": "PAUSE"}]
    assert send(client, json.dumps(both), "application/json").json()["applied"] == 2
    rule = client.get(f"/v1/rules/{ids[0]}").json()
    assert (rule["name"], rule["state"], rule["version"]) == ("n", "PAUSED", 3)


def test_control_records_need_their_own_scope(
    api: RegistryApi, client: httpx.Client, ids: tuple[int, int, int]
) -> None:
    text = f'{line(ids[0])}\n{{"ruleState": "CONTROL", "controlType": "CLEAR_STATE_ALL"}}'
    taken = send(client, text).json()["results"][1]
    assert taken["outcome"] == "commanded"
    command = client.get(f"/v1/control-commands/{taken['commandId']}").json()
    assert (command["command"], command["position"]) == ("CLEAR_STATE_ALL", taken["firstPosition"])
    with api.client("second-key-for-tests") as second:
        results = send(second, text).json()["results"]
        assert [result["outcome"] for result in results] == ["changed", "refused"]
        assert "controls:write" in results[1]["errors"][0]["message"]
    with api.client("viewer-key-for-tests") as viewer:
        assert send(viewer, text).status_code == 403


def test_a_repeated_import_happens_once(client: httpx.Client, ids: tuple[int, int, int]) -> None:
    headers = {"Idempotency-Key": uuid.uuid4().hex, "Content-Type": "text/plain"}
    first, again = (client.post("/v1/rules/import", content=line(ids[0]), headers=headers) for _ in range(2))
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert client.get(f"/v1/rules/{ids[0]}").json()["version"] == 1
    other = client.post("/v1/rules/import?atomic=true", content=line(ids[0]), headers=headers)
    assert other.status_code == 422, "all or nothing is another request"


def test_a_thousand_rules_are_taken_and_no_more(client: httpx.Client, ids: tuple[int, int, int]) -> None:
    text = "\n".join(line(ids[0] + number, 1 + number % 50) for number in range(1000))
    answer = send(client, text)
    assert (answer.status_code, answer.json()["applied"]) == (200, 1000), answer.text[:300]
    assert send(client, f"{text}\n{line(1)}").status_code == 422, "a record too many"
    deleted = client.post("/v1/control-commands", json={"command": "DELETE_RULES_ALL"})
    assert deleted.json()["deletedRules"] >= 1000


@pytest.mark.parametrize(
    ("body", "kind", "status", "reason"),
    [
        (b"", "text/plain", 422, "nothing"),
        (b"\n \n", "text/plain", 422, "empty lines only"),
        (b"\xff\xfe", "text/plain", 400, "no UTF-8"),
        (b"\x00\x01", "text/plain", 422, "control characters"),
        (b"[" * 50_000, "text/plain", 422, "brackets"),
        (b"{" + b'"a":{' * 5_000, "application/x-ndjson", 422, "deeper than anything reads"),
        (
            b'{"ruleId": 1, "ruleState": "PAUSE", "name": "\\u0000"}',
            "text/plain",
            422,
            "what Postgres cannot hold",
        ),
        (b'{"ruleId": 1, "ruleState": "\\ud800"}', "text/plain", 422, "a lone surrogate"),
        (b'{"ruleId": ' + b"9" * 6_000 + b"}", "text/plain", 422, "longer than Python converts"),
        (b"5", "application/json", 422, "no record"),
        (b"[]", "application/json", 422, "none"),
        (b"{", "application/json", 400, "no JSON"),
        (b"7,delete", "application/x-www-form-urlencoded", 415, "what curl says unless told otherwise"),
        (b"x" * 300_000, "text/plain", 413, "too long"),
    ],
)
def test_garbage_is_a_clear_problem(
    client: httpx.Client, body: bytes, kind: str, status: int, reason: str
) -> None:
    before = last_position(client)
    answer = send(client, body, kind)
    assert answer.status_code == status, (reason, answer.text[:500])
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["detail"]
    assert last_position(client) == before
