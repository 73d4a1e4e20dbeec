"""What goes to the terminal: texts of others without characters that would hide, reorder or overwrite what is read.

An approver decides by what is shown. Names from before the registry's own check, and constants of filters, which are
data, may hold anything.
"""

from __future__ import annotations

import click

from tripline_contracts import display_text


def say(line: str, *, colour: str | None = None, err: bool = False) -> None:
    """One line, whatever it holds."""
    click.echo(click.style(printable(line), fg=colour), err=err)


def say_sentences(text: str) -> None:
    """A message on stderr, of one line or several."""
    for line in text.split("\n"):
        say(line, err=True)


def printable(line: str) -> str:
    """The line with each character that may not stand in one line written as <U+202E>."""
    while (refused := display_text.refused_character(line)) is not None:
        line = line.replace(chr(int(refused.removeprefix("U+"), 16)), f"<{refused}>")
    return line
