"""A Dockerfile as a list of instructions."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

KNOWN = {"FROM", "ENV", "WORKDIR", "COPY", "RUN", "USER", "EXPOSE", "CMD", "VOLUME"}
"""What these tests can follow. Another word is an error, so that nothing goes unseen."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """`RUN`, and what follows it on one line."""

    word: str
    text: str


def read(path: Path) -> list[Instruction]:
    """The instructions, lines put together and comments left out."""
    lines = [
        line for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")
    ]
    joined = re.sub(r"\s*\\\n\s*", " ", "\n".join(lines))
    instructions = [Instruction(*line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]
    unknown = {one.word for one in instructions} - KNOWN
    assert not unknown, f"{path}: the tests do not know {unknown}"
    return instructions


def texts(path: Path, word: str) -> list[str]:
    """What follows each instruction of that name."""
    return [one.text for one in read(path) if one.word == word]


def base(path: Path) -> str:
    """The image that it begins with."""
    (image,) = texts(path, "FROM")
    return image


def user(path: Path) -> str:
    """Whom the image runs as."""
    return texts(path, "USER")[-1]


def ports(path: Path) -> set[int]:
    """What it says it listens on."""
    return {int(port) for text in texts(path, "EXPOSE") for port in text.split()}


def command(path: Path) -> tuple[str, ...]:
    """What the image runs when it is not told otherwise."""
    (text,) = texts(path, "CMD")
    return tuple(json.loads(text))


def copies(path: Path) -> list[tuple[list[str], str]]:
    """Sources in the checkout, and where they go."""
    return [(text.split()[:-1], text.split()[-1]) for text in texts(path, "COPY")]


def own_packages(path: Path) -> list[str]:
    """Tripline's packages that it installs, as folders of the checkout."""
    return [word.removeprefix("./") for text in texts(path, "RUN") for word in re.findall(r"\./\S+", text)]
