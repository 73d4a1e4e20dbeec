"""The guard as a process: a look now and then, metrics, probes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import structlog
from prometheus_client import CollectorRegistry, Counter

from rules_registry.client.alerts_client import AlertsClient
from rules_registry.client.client_settings import ClientSettings
from rules_registry.client.guard import Finding, Guard, words
from rules_registry.client.guard_settings import GuardSettings
from rules_registry.client.http_session import HttpSession
from rules_registry.client.registry_client import RegistryClient
from rules_registry.errors import RegistryError
from tripline_http.lifecycle import stop_on_signals
from tripline_http.logs import configure_logs
from tripline_http.metrics import new_metrics_registry
from tripline_http.metrics_server import MetricsServer

log = structlog.get_logger(__name__)
AGAIN_SECONDS: Final = 5
MISSED: Final = 5
"""So many rounds without a good one, and it is not ready."""


@contextmanager
def clients(
    registry: ClientSettings, alerts: ClientSettings
) -> Iterator[tuple[RegistryClient, AlertsClient]]:
    """Both, for the length of a `with`."""
    sessions = HttpSession(registry), HttpSession(alerts)
    try:
        yield RegistryClient(sessions[0]), AlertsClient(sessions[1])
    finally:
        for session in sessions:
            session.close()


def run(guard: Guard, settings: GuardSettings) -> None:
    """A round each `every` seconds until SIGTERM, one that failed again a little later. Raises ConfigurationError."""
    configure_logs(settings.log_level, "rules-registry-guard")
    stop, metrics = stop_on_signals(), new_metrics_registry()
    rounds = Rounds(guard, settings.every, metrics)
    with MetricsServer(settings.metrics_bind, metrics, {"guard": rounds.check}):
        while not stop.is_set():
            is_good = rounds.one()
            stop.wait(settings.every if is_good else min(settings.every, AGAIN_SECONDS))


class Rounds:
    """Rounds that may fail: registry and alert API come back, and nothing is lost meanwhile."""

    def __init__(self, guard: Guard, every: float, metrics: CollectorRegistry) -> None:
        self._guard, self._every = guard, every
        self._good: float | None = None
        self._told: set[tuple[int, int]] = set()
        self._rounds = Counter(
            "tripline_guard_rounds_total", "Looks at all rules", ["outcome"], registry=metrics
        )
        self._findings = Counter(
            "tripline_guard_findings_total", "Rules that alerted too often", registry=metrics
        )

    def one(self) -> bool:
        """One round, and whether it was a good one; raises nothing of what the services may answer."""
        try:
            findings = self._guard.round()
        except RegistryError as error:
            self._rounds.labels("failed").inc()
            log.warning("guard_round_failed", error=str(error))
            return False
        self._good = time.monotonic()
        self._rounds.labels("done").inc()
        for finding in filter(self._is_new, findings):
            self._findings.inc()
            log.warning(
                "guard_finding", rule_id=finding.rule_id, reason=finding.reason, outcome=words(finding)
            )
        return True

    def _is_new(self, finding: Finding) -> bool:
        """False for what the round before has told too: a change that stands in the way is open for hours."""
        if not isinstance(finding.outcome, int):
            return True
        told = (finding.rule_id, finding.outcome)
        is_new = told not in self._told
        self._told.add(told)
        return is_new

    def check(self) -> None:
        """Raises where there was no good round lately."""
        if self._good is None or time.monotonic() - self._good > MISSED * self._every:
            raise RuntimeError(f"no good look at the rules within {MISSED} rounds")
