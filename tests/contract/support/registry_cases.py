"""What schemathesis is given to ask the registry with: what has to exist.

Positive cases get what no generator can guess: the id of a rule that exists, the version that it has, a cursor of this
registry, an Idempotency-Key that was not used before. Negative cases go out as they were made.
"""

from __future__ import annotations

import base64
import itertools
import json
import time
import uuid
from typing import Any

import httpx
import psycopg
from schemathesis.generation import GenerationMode

from tests.registry import DEFINITION
from tripline_http.fields import MAX_MS

BACKTESTS = "/v1/backtests"
FILE = b"id;time;payer;type;amount\n1;2021-06-01T12:00:00Z;a;CRD;1,5\n2;soon;b;CRD;2\n"
SHARD_ANSWER = """
INSERT INTO registry.rule_exports (command_id, shard, shards, position, exported_at, rules)
VALUES (%s, 0, 2, 5, 1, jsonb_build_array(jsonb_build_object(
    'ruleId', 77, 'version', 1, 'definitionHash', repeat('ab', 32), 'state', 'PAUSED')))
"""


class Supply:
    """Gives cases what has to exist: `client` may make all of it, `author` has four eyes, and `caller` is who withdraws
    changes, which asks for a hand in them."""

    def __init__(
        self, client: httpx.Client, author: httpx.Client, dsn: str, caller: httpx.Client | None = None
    ) -> None:
        self._client, self._author, self._caller = client, author, caller or client
        self._turns = itertools.count()
        # Downward: fresh ids follow the highest there is.
        self._import_ids = itertools.count(1_000_000_000, -1)
        # Of each kind more than one, so that listings have a next page. Names that rules refer to are the first.
        for path in ("lists/watched", "lists/other", "parameters/high", "parameters/low"):
            value = {"values": ["25"]} if path.startswith("lists") else {"value": "1"}
            client.put(f"/v1/{path}", json=value).raise_for_status()
        self._readable, *_ = (self._publish() for _ in range(3))
        self._clear, self._export = (
            self._issue(name) for name in ("CLEAR_STATE_ALL", "EXPORT_RULES_CURRENT")
        )
        self._issue("START_BACKFILL")
        self._issue("START_BACKFILL")
        self._tried = self._backtest("sums")
        self._wait_for(self._tried)
        with psycopg.connect(dsn) as connection:
            connection.execute(SHARD_ANSWER, [self._export])

    def fill(self, case: Any) -> None:
        """Makes three of four positive cases point at something real; the fourth stays a guess."""
        meta = case.meta
        if meta is None or meta.generation.mode is not GenerationMode.POSITIVE:
            return
        if "Idempotency-Key" in (case.headers or {}):
            case.headers["Idempotency-Key"] = str(uuid.uuid4())
        if (case.headers or {}).get("If-Match", "").isdigit():
            # Coverage draws versions from answers, and leaves out the quotes that the pattern asks for.
            case.headers["If-Match"] = f'"{case.headers["If-Match"]}"'
        _name_what_exists(case.body)
        is_stateful = meta.phase.name.value == "stateful"
        if case.path == "/v1/rules/import":
            self._give_records(case)
        elif case.path in ("/v1/lists/{name}/imports", "/v1/mapping-proposals"):
            _write_csv(case)
        elif case.path == "/v1/control-commands" and is_stateful and case.method.upper() == "POST":
            # schemathesis holds that what was published can be read, and nothing but DELETE makes it go.
            case.body = {"command": "CLEAR_STATE_ALL"}
        if case.path.startswith("/v1/keys"):
            self._point_key(case)
        if isinstance(case.body, dict):
            _fit(case.method.upper(), case.path, case.body)
        if (case.query or {}).get("breakGlass") == "true":
            # What is done alone is no change, which no schema can say.
            case.query.pop("asChange", None)
        if next(self._turns) % 4 and not is_stateful:
            (self._point_backtest if case.path.startswith(BACKTESTS) else self._point)(case)
        if (case.query or {}).get("cursor") is not None:
            self._give_cursor(case)

    def _point(self, case: Any) -> None:
        if case.path.startswith("/v1/rules/{rule_id}"):
            self._point_rule(case)
        elif case.path.startswith(("/v1/lists/{name}", "/v1/parameters/{name}")):
            path = "/v1/lists/watched" if "lists" in case.path else "/v1/parameters/high"
            case.path_parameters["name"] = path.rpartition("/")[2]
            if "If-Match" in (case.headers or {}):
                case.headers["If-Match"] = self._client.get(path).headers["ETag"]
        elif case.path == "/v1/settings" and "If-Match" in (case.headers or {}):
            case.headers["If-Match"] = self._client.get("/v1/settings").headers["ETag"]
        elif case.path == "/v1/control-commands" and case.method.upper() == "POST":
            self._point_command(case)
        elif case.path.startswith("/v1/changes/{change_id}"):
            self._point_change(case)
        elif "command_id" in (case.path_parameters or {}):
            case.path_parameters["command_id"] = self._export if next(self._turns) % 2 else self._clear

    def _point_rule(self, case: Any) -> None:
        rule = self._rule_for(case)
        case.path_parameters["rule_id"] = rule["ruleId"]
        if "version" in case.path_parameters:
            case.path_parameters["version"] = 1
        if case.path.endswith("/diff"):
            case.query = {"from": 1, "to": 2}
        if case.path.endswith("/revert"):
            case.query["version"] = 1
        if "If-Match" in (case.headers or {}):
            case.headers["If-Match"] = f'"{rule["version"]}"'
        if case.path.endswith("/purpose") and "If-Match" in (case.headers or {}):
            # It has a version of its own.
            path = f"/v1/rules/{rule['ruleId']}/purpose"
            case.headers["If-Match"] = self._client.get(path).headers["ETag"]

    def _point_key(self, case: Any) -> None:
        """A key that stands, mostly; and an end that has not passed."""
        if isinstance(case.body, dict) and case.body.get("expiresAt") is not None:
            case.body["expiresAt"] = MAX_MS
        if "name" in (case.path_parameters or {}) and next(self._turns) % 4:
            name = f"given-{next(self._import_ids)}"
            self._client.post("/v1/keys", json={"name": name, "role": "viewer"}).raise_for_status()
            case.path_parameters["name"] = name

    def _point_change(self, case: Any) -> None:
        """A draft or a submitted change of somebody else's, one of the caller's own, or what was done alone."""
        step = case.path.rpartition("/")[2]
        rule = f"/v1/rules/{self._publish()['ruleId']}"
        if step == "withdraw":
            change = self._author.post("/v1/rules", json=dict(DEFINITION)).raise_for_status().json()
            change = self._with_a_hand_in_it(change)
        elif step == "review":
            alone = {"breakGlass": "true", "reason": "it floods"}
            self._author.post(f"{rule}/pause", params=alone, headers={"If-Match": "*"}).raise_for_status()
            [change] = self._author.get("/v1/changes", params={"limit": 1}).raise_for_status().json()["items"]
        elif step in ("approve", "reject"):
            change = self._author.post(f"{rule}/pause", headers={"If-Match": "*"}).raise_for_status().json()
        else:
            change = self._author.post("/v1/rules", json=dict(DEFINITION)).raise_for_status().json()
        case.path_parameters["change_id"] = change["changeId"]
        if "If-Match" in (case.headers or {}):
            case.headers["If-Match"] = f'"{change["revision"]}"'
        if isinstance(case.body, dict) and "contentHash" in case.body:
            case.body["contentHash"] = change["contentHash"]

    def _point_backtest(self, case: Any) -> None:
        """Rules that are there; a backtest that has alerts; one that can be cancelled."""
        if "backtest_id" not in (case.path_parameters or {}):
            body = case.body if isinstance(case.body, dict) else {}
            for rule in body.get("rules", ()):
                rule |= {"ruleId": self._publish()["ruleId"], **({"version": 1} if "version" in rule else {})}
            return
        if case.path.endswith("/cancel"):
            # What runs for ever lets it wait.
            self._backtest("never")
            case.path_parameters["backtest_id"] = self._backtest("sums")
        else:
            case.path_parameters["backtest_id"] = self._tried

    def _backtest(self, name: str) -> int:
        """A new backtest, for which there is room."""
        for state in ("queued", "running"):
            for item in self._client.get(BACKTESTS, params={"state": state}).json()["items"]:
                self._client.post(f"{BACKTESTS}/{item['backtestId']}/cancel")
        body = {"from": 1, "to": 2, "rule": {**DEFINITION, "name": name}}
        asked = self._client.post(BACKTESTS, json=body).raise_for_status().json()
        return int(asked["backtestId"])

    def _wait_for(self, backtest_id: int) -> None:
        """Until it is done, and has alerts by pages."""
        end = time.monotonic() + 120
        while self._client.get(f"{BACKTESTS}/{backtest_id}").json()["state"] != "done":
            assert time.monotonic() < end
            time.sleep(0.05)

    def _with_a_hand_in_it(self, change: dict[str, Any]) -> dict[str, Any]:
        """The same, edited by the caller."""
        edited: dict[str, Any] = (
            self._caller.put(
                f"/v1/changes/{change['changeId']}", json=dict(DEFINITION), headers={"If-Match": "*"}
            )
            .raise_for_status()
            .json()
        )
        return edited

    def _point_command(self, case: Any) -> None:
        """A rule, a group of its, or a backfill that stands."""
        body = case.body if isinstance(case.body, dict) else {}
        if "ruleId" in body:
            body["ruleId"] = self._rule_for(case)["ruleId"]
        if "group" in body:
            body["group"] = {"payeeId": "25", "beneficiaryId": "12"}
        if "backfillId" in body:
            body["backfillId"] = self._issue("START_BACKFILL")

    def _give_records(self, case: Any) -> None:
        """Lines or objects that can be taken, with one that cannot beside them where that is allowed."""
        first, second = next(self._import_ids), next(self._import_ids)
        record = {**DEFINITION, "ruleId": second, "ruleState": "ACTIVE"}
        plain = f"({first}),(active),(paymentType),(),(COUNT_FLINK),(SUM),(>=),(100),(1440)"
        if case.media_type == "application/json":
            case.body = [record, {"ruleId": second, "ruleState": "PAUSE"}]
        elif (case.query or {}).get("atomic") == "true":
            case.body = f"{plain}\n{json.dumps(record)}\n{first},pause\n"
        else:
            case.body = f"{plain}\nno record\n{json.dumps(record)}"

    def _rule_for(self, case: Any) -> dict[str, Any]:
        if case.method.upper() != "GET":
            if case.path.endswith(("/shadow/promote", "/shadow/rollout")) or (
                case.path.endswith("/shadow") and case.method == "DELETE"
            ):
                return self._shadowed()
            return self._paused() if case.path.endswith("/resume") else self._publish()
        # Of two versions; and again after all rules were deleted.
        path = f"/v1/rules/{self._readable['ruleId']}"
        if self._client.get(path).status_code == 404 or self._readable["version"] == 1:
            path = f"/v1/rules/{self._publish()['ruleId']}"
            changed = self._client.put(path, json=dict(DEFINITION), headers={"If-Match": "*"})
            self._readable = changed.raise_for_status().json()
        return self._readable

    def _give_cursor(self, case: Any) -> None:
        """A real one of this listing with these filters, or none where there is no next page."""
        query = {name: value for name, value in case.query.items() if name != "cursor"}
        path = case.path
        for name, value in (case.path_parameters or {}).items():
            path = path.replace(f"{{{name}}}", str(value))
        page = self._client.get(path, params={**query, "limit": 1})
        link = page.links.get("next")
        case.query = {**query, "cursor": httpx.URL(link["url"]).params["cursor"]} if link else query

    def _publish(self) -> dict[str, Any]:
        published: dict[str, Any] = (
            self._client.post("/v1/rules", json=dict(DEFINITION)).raise_for_status().json()
        )
        return published

    def _paused(self) -> dict[str, Any]:
        path = f"/v1/rules/{self._publish()['ruleId']}/pause"
        paused: dict[str, Any] = self._client.post(path, headers={"If-Match": "*"}).raise_for_status().json()
        return paused

    def _shadowed(self) -> dict[str, Any]:
        path = f"/v1/rules/{self._publish()['ruleId']}/shadow"
        started = self._client.post(path, json=dict(DEFINITION), headers={"If-Match": "*"})
        rule: dict[str, Any] = started.raise_for_status().json()
        return rule

    def _issue(self, name: str) -> str:
        issued = self._client.post("/v1/control-commands", json={"command": name}).raise_for_status()
        return str(issued.json()["commandId"])


def _fit(method: str, path: str, body: dict[str, Any]) -> None:
    """What no schema can say of a body, and no generator can know."""
    match method, path:
        case "POST", "/v1/backtests":
            # a span has an end after its beginning, not too long after it
            body["from"] = min(body["from"], MAX_MS - 1)
            body["to"] = body["from"] + 1
        case "PUT", "/v1/rules/{rule_id}":
            # it has to be the one in the path
            body.pop("ruleId", None)
        case "POST", "/v1/rules/{rule_id}/shadow":
            # of an anchor that rules need, whichever rule it is: a shadow begins none
            body["groupingKeyNames"] = DEFINITION["groupingKeyNames"]
    if body.get("effectiveUntil") is not None:
        # a rule ends after it begins; 1.0 is an integer too
        body["effectiveUntil"] = MAX_MS
        if isinstance(body.get("effectiveFrom"), int | float):
            body["effectiveFrom"] = min(body["effectiveFrom"], MAX_MS - 1)


def _write_csv(case: Any) -> None:
    """No generator does; whatever mapping comes is tried on it."""
    if case.path == "/v1/lists/{name}/imports":
        case.body = f"value,until\n25,\nimported,{MAX_MS}\n"
    elif isinstance(case.body, dict):
        case.body["head"] = base64.b64encode(FILE).decode()


def _name_what_exists(body: Any) -> None:
    """A rule names lists and parameters that exist."""
    if isinstance(body, dict):
        for word, name in (("list", "watched"), ("parameter", "high")):
            if set(body) == {word}:
                body[word] = name
        for inner in body.values():
            _name_what_exists(inner)
    elif isinstance(body, list):
        for inner in body:
            _name_what_exists(inner)
