"""`rules-registry backtest`: rules tried over history, with a bar while it lasts, and a table of what came of it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from rules_registry.client.backtest_words import result_lines
from rules_registry.client.client_commands import client_command, reason_option
from rules_registry.client.client_settings import event_type_of
from rules_registry.client.errors import FilesUnusable, NotApplied
from rules_registry.client.folders import read_files
from rules_registry.client.terminal import printable, say
from rules_registry.domain.rule_files.desired_rule import read_rules

if TYPE_CHECKING:
    from rules_registry.client.registry_client import RegistryClient

_SECONDS: Final = 0.5
_BAR: Final = 30
_OPEN: Final = ("queued", "running", "cancelling")
Json = Mapping[str, Any]


class _Moment(click.ParamType[int]):
    """A time with an offset, in ms: whose would it be without one?"""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Fails with a sentence."""
        if isinstance(value, int):
            return value
        try:
            time_read = datetime.fromisoformat(value)
        except ValueError:
            time_read = None
        if time_read is None or time_read.tzinfo is None:
            self.fail(
                f"expected a time with an offset, as in 2026-05-01T00:00:00Z, not {value!r}", param, ctx
            )
        return round(time_read.timestamp() * 1000)


class _Seconds(click.ParamType[tuple[int, ...]]):
    """Lengths, parted by commas."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Fails with a sentence."""
        if isinstance(value, tuple):
            return value
        texts = [text.strip() for text in value.split(",")]
        if not all(text.isascii() and text.isdigit() for text in texts):
            self.fail(f"expected whole seconds, as in 60,300,3600, not {value!r}", param, ctx)
        return tuple(map(int, texts))


@click.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--rule", "rules", multiple=True, metavar="RULE[@VERSION]", help="A published rule, by id or name."
)
@click.option("--all-active", is_flag=True, help="All active rules.")
@click.option("--from", "first", required=True, type=_Moment(), help="In force from this event time on.")
@click.option("--to", "until", required=True, type=_Moment(), help="The end of the span, excluded.")
@click.option(
    "--beside", metavar="RULE", help="Compare the draft with what this rule gave live: an id or name."
)
@click.option("--limits", metavar="LIMIT,…", help="Try the draft with these limits too: 500,1000,2000.")
@click.option(
    "--windows", type=_Seconds(), metavar="SECONDS,…", help="And with these windows, in seconds: 60,300,3600."
)
@click.option(
    "--knowledge",
    type=click.Choice(["as-it-was", "today"]),
    default="as-it-was",
    show_default=True,
    help="What counts at each moment: what the engine knew then, or what is known today.",
)
@reason_option
@client_command
def backtest(
    registry: RegistryClient, first: int, until: int, knowledge: str, reason: str | None, **options: Any
) -> None:
    """Try the rule of FILE, a draft that nobody has published, or published rules, over recorded history.

    Of a FILE with the id of a rule, that rule is what it is compared with. Ctrl-C cancels the backtest.
    """
    what = _asked(registry, **options)
    asked = registry.ask_backtest({"from": first, "to": until, "knowledge": knowledge, **what}, reason)
    say(f"Backtest {asked['backtestId']}.", err=True)
    try:
        ended = _followed(registry, asked)
    except KeyboardInterrupt:
        registry.cancel_backtest(asked["backtestId"])
        raise NotApplied(f"Backtest {asked['backtestId']} is cancelled.") from None
    if ended["state"] != "done":
        raise NotApplied(
            f"Backtest {ended['backtestId']} is {ended['state']}: {ended['failure'] or 'by wish'}."
        )
    for line in result_lines(ended):
        say(line)


def _asked(
    registry: RegistryClient,
    file: Path | None,
    rules: Sequence[str],
    all_active: bool,
    beside: str | None,
    limits: str | None,
    windows: tuple[int, ...] | None,
) -> dict[str, Any]:
    """The part of the request that says what is tried."""
    if sum((file is not None, bool(rules), all_active)) != 1:
        raise click.UsageError("Give one of FILE, --rule and --all-active.")
    if file is not None:
        others: dict[str, Any] = {} if windows is None else {"windows": list(windows)}
        if limits is not None:
            others["limits"] = [limit.strip() for limit in limits.split(",")]
        return {**_draft(registry, file, beside), **others}
    if any(one is not None for one in (beside, limits, windows)):
        raise click.UsageError("--beside, --limits and --windows go with FILE: a draft.")
    return {"allActive": True} if all_active else {"rules": [_published(registry, one) for one in rules]}


def _draft(registry: RegistryClient, file: Path, beside: str | None) -> dict[str, Any]:
    written = read_rules(read_files([file]), event_type_of(os.environ))
    if len(written) != 1:
        raise FilesUnusable(f"{file} has {len(written)} rules; a backtest of a draft is of one.")
    rule = written[0]
    live = rule.rule_id if beside is None else registry.rule(beside).rule_id
    return {"rule": rule.to_json(), **({} if live is None else {"beside": live})}


def _published(registry: RegistryClient, reference: str) -> dict[str, int]:
    name, sign, version = reference.rpartition("@")
    if sign and version.isascii() and version.isdigit():
        return {"ruleId": registry.rule(name).rule_id, "version": int(version)}
    return {"ruleId": registry.rule(reference).rule_id}


def _followed(registry: RegistryClient, asked: Json) -> Json:
    """The backtest when it has ended."""
    noted: str | None = None
    while True:
        now = registry.backtest(asked["backtestId"])
        if sys.stderr.isatty():
            click.echo(f"\r{_bar(now)}\033[K", nl=False, err=True)
        if now["note"] and now["note"] != noted:
            noted = now["note"]
            click.echo(f"\n{printable(noted)}", err=True)
        if now["state"] not in _OPEN:
            click.echo(err=True)
            return now
        time.sleep(_SECONDS)


def _bar(backtest: Json) -> str:
    progress = backtest["progress"]
    percent, left = progress["percent"], progress["secondsLeft"]
    full = "#" * (percent * _BAR // 100)
    still = "" if left is None else f", about {left} s left"
    return f"[{full:-<{_BAR}}] {percent:3} %  {backtest['state']}, {progress['alerts']} alerts{still}"
