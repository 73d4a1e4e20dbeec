"""Each operation of a service asked with the key of each role: few cases, the same for all, and every check.

What a role may not do is answered with 403, whatever was sent; what it may do keeps its contract.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
import hypothesis
import schemathesis
from schemathesis.checks import ignored_auth
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.transport.requests import ManagedCookiesSession

from tests.contract.support.same_cases import same_cases
from tests.contract.support.schemathesis_campaign import CONFIG, spell_as_sent
from tests.contract.support.whole_document import WholeDocument
from tripline_http.keys.roles import ROLES

CASES: Mapping[GenerationMode, int] = {GenerationMode.POSITIVE: 3, GenerationMode.NEGATIVE: 1}
"""Of each operation, each asked once by each role."""
TRIES: Final = 20
"""So often at most, with other cases, until each role that may do it has done it once: of some operations few cases fit
how things stand."""
# A path that is none is told before anybody is asked for; waitress refuses a head of more than 32 KiB by itself.
UNROUTED = frozenset({404, 405, 431})


@dataclass(slots=True)
class RoleOutcome:
    """Statuses by role and operation, failures in words; what the service allows, narrowed or not."""

    whole: WholeDocument
    statuses: dict[tuple[str, str], Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RoleCampaign:
    """Asks one service; `key_of` gives the key of a role, and `fill` makes a case point at what is there.

    `narrow` may take from the document what `schemathesis_campaign.run` may.
    """

    url: str
    key_of: Callable[[str], str]
    fill: Callable[[Any], None]
    without: tuple[str, ...] = ()
    narrow: Callable[[dict[str, Any]], None] = lambda _document: None
    session: ManagedCookiesSession = field(default_factory=ManagedCookiesSession)
    """Connections that stay open; it keeps no cookie."""

    def run(self) -> RoleOutcome:
        """All operations of the document that the service answers with."""
        with same_cases(), self.session:
            return self._run()

    def _run(self) -> RoleOutcome:
        document = httpx.get(f"{self.url}/openapi.json").raise_for_status().json()
        whole = WholeDocument(deepcopy(document))
        self.narrow(document)
        schema: Any = schemathesis.openapi.from_dict(document, config=SchemathesisConfig.from_dict(CONFIG))
        if self.without:
            schema = schema.exclude(path=list(self.without))
        schema.config.update(base_url=self.url)
        outcome = RoleOutcome(whole)
        for result in schema.get_all_operations():
            operation = result.ok()
            scope = operation.definition.raw.get("x-required-scope")
            for mode in CASES:
                self._ask(outcome, operation, scope, mode, seed=0)
            allowed = [role for role, scopes in ROLES.items() if scope is None or scope in scopes]
            for seed in range(1, TRIES):
                if all(_succeeded(outcome.statuses[role, operation.label]) for role in allowed):
                    break
                self._ask(outcome, operation, scope, GenerationMode.POSITIVE, seed)
        return outcome

    def _ask(
        self, outcome: RoleOutcome, operation: Any, scope: str | None, mode: GenerationMode, seed: int
    ) -> None:
        def check(case: Any) -> None:
            spell_as_sent(case)
            for role, scopes in ROLES.items():
                # A case that is wrong on purpose may bring a key that is none. Without that it may be right, and is
                # filled like any other: so the key comes first.
                case.headers = {**(case.headers or {}), "Authorization": f"Bearer {self.key_of(role)}"}
                is_allowed = scope is None or scope in scopes
                if is_allowed:
                    self.fill(case)
                _hold(outcome, case, case.call(session=self.session), role, is_allowed=is_allowed)

        settings = hypothesis.settings(
            max_examples=CASES[mode],
            database=None,
            deadline=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        strategy = operation.as_strategy(generation_mode=mode)
        asking: Callable[[], None] = settings(hypothesis.given(strategy)(check))  # type: ignore[no-untyped-call]
        try:
            hypothesis.seed(seed)(asking)()
        except hypothesis.errors.Unsatisfiable:
            # An operation that takes nothing cannot be asked wrongly.
            assert mode is GenerationMode.NEGATIVE


def _succeeded(counted: Counter[int]) -> bool:
    return any(200 <= status < 300 for status in counted)


def _hold(outcome: RoleOutcome, case: Any, response: Any, role: str, *, is_allowed: bool) -> None:
    label = case.operation.label
    is_negative = case.meta is not None and case.meta.generation.mode is GenerationMode.NEGATIVE
    if is_negative and response.status_code in UNROUTED:
        return
    outcome.statuses[role, label][response.status_code] += 1
    if not is_allowed and response.status_code != 403:
        outcome.failures.append(
            f"{role}, {label}: {response.status_code} for what it may not do\n{_text(case)}"
        )
    try:
        # The check takes this key for one that it made up.
        case.validate_response(response, excluded_checks=[ignored_auth])
    except FailureGroup as group:
        if not outcome.whole.excuses(case, group.exceptions):
            outcome.failures.append(f"{role}, {label}: {group}\n{_text(case)}")


def _text(case: Any) -> str:
    return str(case.as_curl_command())
