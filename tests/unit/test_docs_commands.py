"""Commands that documents show: each is one that there is, takes those options, and takes such values.

They are parsed as click would, and not run. What is history (decisions, the change log, old measurements) may name what
has gone. A value that is left open (`…`, `FILE`, `$1`) may be any.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

import click
import pytest

import alert_api.cli
import rules_registry.cli
import tripline_demo.cli
import tripline_demo.generator.cli
import tripline_engine.archive.cli
import tripline_engine.cli
from tests.unit.test_docs import ROOT, documents

ENGINE: Final = tripline_engine.cli.main
COMMANDS: Final[dict[str, click.Group]] = {
    "tripline": tripline_demo.cli.commands,
    "tripline-engine": ENGINE,
    "tripline-archiver": tripline_engine.archive.cli.main,
    "tripline-generator": tripline_demo.generator.cli.main,
    "rules-registry": rules_registry.cli.main,
    "alert-api": alert_api.cli.main,
}
HANDED_ON: Final = ("prove", "backtest")
"""What `tripline` hands to `tripline-engine` as it is."""
HISTORY: Final = re.compile(r"docs/(?:decisions|measurements)/\d|CHANGELOG")
BLOCK: Final = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SPAN: Final = re.compile(r"`([^`]+)`")
INDENTED: Final = re.compile(rf"^ {{4,}}((?:\S*/)?(?:{'|'.join(COMMANDS)}) .+)$", re.MULTILINE)
OPEN: Final = re.compile(r"…|\$|^[A-Z]+$")
ASSIGNED: Final = re.compile(r"\w+=")
JOINED: Final = re.compile(r"[();<>|&]+")
Words = tuple[str, ...]


def shown_whole(text: str) -> Iterator[Words]:
    """The commands of ours in blocks of code, where nothing that is needed is left out."""
    blocks = BLOCK.findall(text)
    lines = [line for kind, block in blocks for line in lines_of(block, prompted=kind != "sh")]
    for line in [*lines, *INDENTED.findall(BLOCK.sub("", text))]:
        yield from commands_in(line)


def named_in_passing(text: str) -> Iterator[Words]:
    """Those in sentences."""
    for span in SPAN.findall(BLOCK.sub("", text)):
        yield from commands_in(" ".join(span.split()))


def lines_of(block: str, *, prompted: bool) -> Iterator[str]:
    """Command lines; of a session only what stands behind a prompt."""
    for line in block.replace("\\\n", " ").splitlines():
        if not prompted:
            yield line
        elif line.lstrip().startswith("$ "):
            yield line.lstrip()[2:]


def commands_in(line: str) -> Iterator[Words]:
    """Words of each command of ours in a line of a shell, its name first."""
    for words in simple_commands(line):
        rest = [*words]
        while rest and ASSIGNED.match(rest[0]):
            rest.pop(0)
        if rest[:3] == ["docker", "compose", "run"]:
            rest = rest[next((n for n, word in enumerate(rest) if word in COMMANDS and n > 3), len(rest)) :]
        if rest and (name := rest[0].rpartition("/")[2]) in COMMANDS and len(rest) > 1:
            yield name, *rest[1:]


def simple_commands(line: str) -> list[list[str]]:
    """The words between pipes, semicolons and parentheses; none of what is no line of a shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    commands: list[list[str]] = [[]]
    try:
        for word in lexer:
            if JOINED.fullmatch(word):
                commands.append([])
            elif word not in ("{", "}", "then", "do"):
                commands[-1].append(word)
    except ValueError:  # a quotation mark that is none
        return []
    return commands


def parse(words: Sequence[str]) -> None:
    """Raises a UsageError where click would."""
    command: click.Command = COMMANDS[words[0]]
    path, rest = words[0], [*words[1:]]
    if words[0] == "tripline" and rest[0] in HANDED_ON:
        command, path = ENGINE, "tripline-engine"
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        inner = command.get_command(click.Context(command), name)
        if inner is None:
            raise click.UsageError(f"{path} has no command {name}")
        command, path = inner, f"{path} {name}"
    command.make_context(path, rest)


def mistake(words: Words, *, whole: bool) -> str | None:
    """What click says against it."""
    try:
        parse(words)
    except click.exceptions.Exit:  # --help
        return None
    except click.MissingParameter as missing:
        return missing.format_message() if whole else None
    except click.exceptions.NoArgsIsHelpError:
        return "a command is missing" if whole else None
    except click.UsageError as error:
        return error.format_message()
    return None


@pytest.fixture(autouse=True)
def _values_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files need not be there, and an open value may be any."""
    convert = click.ParamType.__call__

    def converted(self: click.ParamType[Any], value: Any, *context: Any, **more: Any) -> Any:
        is_open = isinstance(self, click.Path) or (isinstance(value, str) and OPEN.search(value))
        return value if is_open else convert(self, value, *context, **more)

    monkeypatch.setattr(click.ParamType, "__call__", converted)


@cache
def shown() -> dict[str, list[tuple[Words, bool]]]:
    """Commands by document, and whether each is shown whole."""
    told = {}
    for path in documents():
        name = str(path.relative_to(ROOT))
        text = path.read_text(encoding="utf-8")
        if not HISTORY.match(name):
            whole = [(words, True) for words in shown_whole(text)]
            told[name] = [*whole, *((words, False) for words in named_in_passing(text))]
    return told


def test_every_command_of_the_documents_can_be_parsed() -> None:
    mistakes = {
        f"{document}: {shlex.join(words)}": said
        for document, commands in shown().items()
        for words, whole in commands
        if (said := mistake(words, whole=whole)) is not None
    }
    assert mistakes == {}


def test_they_are_those_of_the_session_and_many_more() -> None:
    session = [shlex.join(words[:3]) for words, whole in shown()["docs/trying-a-rule.md"] if whole]
    assert session == [
        "rules-registry approve '$1'",
        "rules-registry export rules",
        "rules-registry check -f",
        "rules-registry backtest trial.yaml",
        "rules-registry shadow start",
        "rules-registry shadow rollout",
        "rules-registry shadow promote",
        "rules-registry show 3",
        "tripline prove --from",
    ]
    commands = [words for commands in shown().values() for words, _ in commands]
    assert len(commands) > 60
    assert {words[0] for words in commands} == {*COMMANDS}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("rules-registry shadow rollout 3 50 --yes", None),
        ("rules-registry shadow rollout 3 100", "100 is not in the range"),
        ("rules-registry shadow rollout 3 PERCENT", None),
        ("rules-registry shadow rollout 3", "Missing argument 'PERCENT'"),
        ("rules-registry shadow widen 3 50", "rules-registry shadow has no command widen"),
        ("rules-registry shadow promote 3 --reasons why", "No such option '--reasons'"),
        ("rules-registry backtest a.yaml --from yesterday --to …", "Invalid value for '--from'"),
        ("rules-registry show 3 4", "unexpected extra argument"),
        ("rules-registry shadow", "a command is missing"),
        ("tripline prove --since 2026-05-01T00:00:00Z", "No such option '--since'"),
        ("tripline up --fresh", None),
        ("A=1 .venv/bin/tripline-engine prove --until x | tail", "No such option '--until'"),
        ("docker compose run --rm engine tripline-engine rebuilt", "tripline-engine has no command rebuilt"),
        ("x=$(tripline status) && tripline stand", "tripline has no command stand"),
    ],
)
def test_mistakes_are_found(line: str, said: str | None) -> None:
    told = [mistake(words, whole=True) for words in commands_in(line)]
    assert (said or "None") in str(told[-1]), told


@pytest.mark.parametrize(
    ("text", "whole", "passing"),
    [
        ("```sh\ntripline status # all\n```\n", [("tripline", "status")], []),
        ("```text\n$ tripline status\ntripline stand\n```\n", [("tripline", "status")], []),
        ("    alert-api cases check\n", [("alert-api", "cases", "check")], []),
        ("So `alert-api cases\ncheck` does.\n", [], [("alert-api", "cases", "check")]),
        ("psql: `psql -U ada tripline -c x`, or `tripline`.\n", [], []),
        (
            "```sh\ntripline-generator replay \\\n  a.csv\n```\n",
            [("tripline-generator", "replay", "a.csv")],
            [],
        ),
    ],
)
def test_commands_are_found(text: str, whole: list[Words], passing: list[Words]) -> None:
    assert ([*shown_whole(text)], [*named_in_passing(text)]) == (whole, passing)
