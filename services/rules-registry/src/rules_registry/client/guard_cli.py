"""`rules-registry guard`: watches for rules that alert far more often since they were changed."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from rules_registry.client.client_commands import exits_by_error, key_file_option, registry_option
from rules_registry.client.client_settings import ALERTS_URL, DEFAULT_ALERTS_URL
from rules_registry.client.guard_settings import read_guard_settings
from rules_registry.client.terminal import say
from rules_registry.domain.guard.alert_rate import HOUR_MS, Limits

if TYPE_CHECKING:
    from rules_registry.client.guard import Finding

_USUAL: Final = Limits()


@click.command()
@registry_option
@click.option(
    "--alerts", "alerts_url", envvar=ALERTS_URL, show_envvar=True, default=DEFAULT_ALERTS_URL, show_default=True,
    help="The alert API's address.",
)  # fmt: skip
@key_file_option
@click.option(
    "--factor", envvar="TRIPLINE_GUARD_FACTOR", show_envvar=True, default=_USUAL.factor, show_default=True,
    type=click.FloatRange(min=1), help="So many times as often as the version before is too often.",
)  # fmt: skip
@click.option(
    "--least", envvar="TRIPLINE_GUARD_LEAST", show_envvar=True, default=_USUAL.least, show_default=True,
    type=click.IntRange(min=1), help="Fewer alerts within an hour are never too many.",
)  # fmt: skip
@click.option(
    "--first", envvar="TRIPLINE_GUARD_FIRST", show_envvar=True, default=_USUAL.first, show_default=True,
    type=click.IntRange(min=1), help="So many within an hour are allowed where there was no version before.",
)  # fmt: skip
@click.option(
    "--hours", envvar="TRIPLINE_GUARD_HOURS", show_envvar=True, default=_USUAL.watch_ms // HOUR_MS, show_default=True,
    type=click.IntRange(min=1), help="For how long a version is watched.",
)  # fmt: skip
@click.option(
    "--pause", "pauses", envvar="TRIPLINE_GUARD_PAUSES", show_envvar=True, is_flag=True,
    help="Pause at once, flagged until somebody has reviewed it. Without it an approver is asked to pause the rule.",
)  # fmt: skip
@click.option(
    "--every", envvar="TRIPLINE_GUARD_SECONDS", show_envvar=True, default=60, show_default=True,
    type=click.IntRange(min=1), help="Seconds between two looks.",
)  # fmt: skip
@click.option("--once", is_flag=True, help="Look once, tell, and end.")
@exits_by_error
def guard(*, once: bool, **options: Any) -> None:
    """Watch for rules that alert far more often since they were changed.

    Within its first day a version must not alert, within an hour, more than --factor times as often as the one before
    it did. The key needs alerts:read, rules:read and rules:write. Metrics and probes are at TRIPLINE_METRICS_BIND.
    """
    # Here and not above: other commands need neither.
    from rules_registry.client import guard_loop  # noqa: PLC0415
    from rules_registry.client.guard import Guard  # noqa: PLC0415

    settings = read_guard_settings(os.environ, options)
    with guard_loop.clients(settings.registry, settings.alerts) as (registry, alerts):
        watching = Guard(
            registry, alerts, settings.limits, lambda: time.time_ns() // 1_000_000, pauses=settings.pauses
        )
        if once:
            _tell(watching.round())
        else:
            guard_loop.run(watching, settings)


def _tell(findings: Sequence[Finding]) -> None:
    from rules_registry.client.guard import words  # noqa: PLC0415

    for finding in findings:
        say(f"Rule {finding.rule_id}: {finding.reason} {words(finding)}")
    if not findings:
        say("No rule alerts too often.")
