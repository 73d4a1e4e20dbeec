"""The migrations are one chain, in the order of their numbers."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "migrations" / "versions"


def test_each_follows_on_the_one_before() -> None:
    files = sorted(FOLDER.glob("[0-9]*.py"))
    before: str | None = None
    for number, file in enumerate(files, start=1):
        text = file.read_text(encoding="utf-8")
        revision = re.search(r'^revision = "(.+)"$', text, re.MULTILINE)
        follows = re.search(r'^down_revision = (?:"(.+)"|None)$', text, re.MULTILINE)
        assert revision is not None, file.name
        assert follows is not None, file.name
        assert revision[1] == file.stem
        assert file.name.startswith(f"{number:04}_"), "two migrations have one number, or one is missing"
        assert follows[1] == before
        before = revision[1]
