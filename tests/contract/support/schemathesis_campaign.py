"""One schemathesis campaign against a running service: all phases, all checks, and what came of it."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import httpx
import hypothesis
import schemathesis
from hypothesis import strategies as st
from schemathesis.checks import ignored_auth
from schemathesis.config import SchemathesisConfig
from schemathesis.core import NotSet
from schemathesis.core.failures import FailureGroup
from schemathesis.engine import Status, events, from_schema
from schemathesis.generation import GenerationMode
from schemathesis.hooks import unregister
from schemathesis.openapi.checks import UseAfterFree

from tests.contract.support.same_cases import same_cases
from tests.contract.support.whole_document import WholeDocument
from tripline_contracts.filters import time_zones

EXAMPLES = 15
"""Of each operation at least, over all phases."""
DRAWN = 6
"""Of each operation at random, where the other phases leave something to try; and of chains of operations."""
REJECTED = ["400", "401", "403", "404", "405", "406", "409", "412", "413", "415", "422", "428"]
# waitress refuses a head of more than 32 KiB by itself, as text: the service is never asked.
TOO_LONG = 431
# Wrong keys of one address are throttled after ten; a known key never is. The check of keys knows 401 and 403 only.
THROTTLED = 429
schemathesis.openapi.format("time-zone", st.sampled_from(sorted(time_zones.names())))
OUTLIVES = frozenset({"GET /v1/rules/{rule_id}/purpose"})
"""What can be read of a thing that was deleted: alerts of the rule stay, and so does what it was for."""
CONFIG: dict[str, Any] = {
    "seed": 20261121,
    # what is no failure here (a key throttled, a head too long, a body that the whole document allows) ends nothing
    "continue-on-failure": True,
    "generation": {"max-examples": DRAWN, "database": "none"},
    "checks": {
        # 412, because no generator guesses the version that a thing has.
        "positive_data_acceptance": {"expected-statuses": ["2xx", "401", "403", "404", "409", "412"]},
        "negative_data_rejection": {"expected-statuses": REJECTED},
        # 428, because that is what a missing If-Match is.
        "missing_required_header": {"expected-statuses": ["400", "401", "403", "406", "415", "422", "428"]},
    },
    "phases": {"stateful": {"max-steps": 4}},
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Statuses by operation, failures in words, the phases that ran."""

    statuses: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    failures: list[str] = field(default_factory=list)
    phases: set[str] = field(default_factory=set)

    def share(self, operation: str) -> float:
        """How many of the operation's answers were 2xx, 0 to 1."""
        counted = self.statuses[operation]
        return sum(count for status, count in counted.items() if 200 <= status < 300) / counted.total()

    def table(self) -> str:
        """Cases and 2xx share per operation."""
        lines = [f"{'operation':44} {'cases':>6} {'2xx':>6}"]
        for operation, counted in sorted(self.statuses.items()):
            lines.append(f"{operation:44} {counted.total():6} {self.share(operation):6.0%}")
        return "\n".join(lines)


def run(
    url: str,
    key: str,
    prepare: Callable[[Any], None],
    *,
    without: Sequence[str] = (),
    narrow: Callable[[dict[str, Any]], None] = lambda _document: None,
) -> Outcome:
    """Everything that schemathesis has, with this API key; `prepare` may change each case before it is sent.

    Paths `without` an end of their own (streams) are left out: schemathesis reads answers whole. `narrow` may take from
    the document what only repeats itself: the coverage phase tries each value of each variant of a body.
    """
    document = httpx.get(f"{url}/openapi.json").raise_for_status().json()
    whole = WholeDocument(deepcopy(document))
    narrow(document)
    schema: Any = schemathesis.openapi.from_dict(document, config=SchemathesisConfig.from_dict(CONFIG))
    if without:
        schema = schema.exclude(path=list(without))
    schema.config.update(base_url=url, headers={"Authorization": f"Bearer {key}"})

    def before_call(_context: Any, case: Any, **_: Any) -> None:
        spell_as_sent(case)
        prepare(case)

    outcome = Outcome()
    schemathesis.hook(before_call)
    try:
        with same_cases():
            for event in from_schema(schema).execute():
                _take(outcome, event, whole)
            _top_up(outcome, schema)
    finally:
        # Hooks belong to the whole process: the next campaign has its own.
        unregister(before_call)
    return outcome


def spell_as_sent(case: Any) -> None:
    """What is text on the wire becomes text, so that the document is held against what the service can see.

    To JSON Schema 1.0 is an integer; in a query it is text, which the document has as digits alone. And a number in a
    CSV body is a line like any other: schemathesis knows that of text/plain only.
    """
    if (case.media_type or "").startswith("text/") and not isinstance(case.body, str | bytes | NotSet):
        case.body = json.dumps(case.body)
    if case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
        for name, value in (case.query or {}).items():
            if isinstance(value, float) and value.is_integer():
                case.query[name] = int(value)


def _take(outcome: Outcome, event: events.EngineEvent, whole: WholeDocument) -> None:
    if isinstance(event, events.NonFatalError | events.FatalError):
        outcome.failures.append(str(getattr(event, "value", None) or getattr(event, "exception", None)))
    if not isinstance(event, events.ScenarioFinished):
        return
    outcome.phases.add(event.phase.value.lower())
    recorder = event.recorder
    unasked = set()
    for case_id, interaction in recorder.interactions.items():
        if interaction.response is not None:
            label = recorder.cases[case_id].value.operation.label
            outcome.statuses[label][interaction.response.status_code] += 1
            if interaction.response.status_code in (TOO_LONG, THROTTLED):
                unasked.add(case_id)
    for case_id, checks in recorder.checks.items():
        if case_id in unasked:
            continue
        case = recorder.cases[case_id].value
        outcome.failures.extend(
            f"{case.operation.label}: {check.failure_info.failure}\n{case.as_curl_command()}"
            for check in checks
            if check.status is Status.FAILURE
            and check.failure_info is not None
            and not (
                isinstance(check.failure_info.failure, UseAfterFree) and case.operation.label in OUTLIVES
            )
            and not whole.excuses(case, [check.failure_info.failure])
        )


def _top_up(outcome: Outcome, schema: Any) -> None:
    """An operation with little to vary is done after a few cases: it is asked again until it has its share."""
    for result in schema.get_all_operations():
        operation = result.ok()
        for seed in itertools.count():
            missing = EXAMPLES - outcome.statuses[operation.label].total()
            if missing <= 0:
                break
            _ask(outcome, operation, missing, seed)


def _ask(outcome: Outcome, operation: Any, times: int, seed: int) -> None:
    """Up to so many different positive cases, at least one."""

    def check(case: Any) -> None:
        response = case.call()
        outcome.statuses[operation.label][response.status_code] += 1
        try:
            # Keys were tried in the phases before; here the check takes ours for one that it made up.
            case.validate_response(response, excluded_checks=[ignored_auth])
        except (AssertionError, FailureGroup) as failure:
            outcome.failures.append(f"{operation.label}: {failure}\n{case.as_curl_command()}")

    settings = hypothesis.settings(
        max_examples=times,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    asking: Callable[[], None] = settings(hypothesis.given(operation.as_strategy())(check))  # type: ignore[no-untyped-call]
    hypothesis.seed(seed)(asking)()
