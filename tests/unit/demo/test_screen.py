"""The screen at the end of a start: where things are, and no secret."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from tripline_demo.stack import screen
from tripline_demo.stack.places import Places

STACK = {
    "console": "http://127.0.0.1:1/",
    "rulesRegistry": "http://127.0.0.1:2",
    "alertApi": "http://127.0.0.1:1",
    "generator": "http://127.0.0.1:3",
    "kafka": "127.0.0.1:4",
    "postgres": "postgresql://tripline_admin:pw-of-the-superuser@127.0.0.1:5/tripline",
    "apiKeys": {"admin": "tk_of-the-admin", "analyst": "tk_of-the-analyst"},
}


def test_the_screen_names_the_file_of_the_keys_and_shows_none(tmp_path: Path) -> None:
    shown = io.StringIO()
    screen.show_running(Console(file=shown, width=60), STACK, Places(tmp_path), "make down")
    text = shown.getvalue()
    assert f"{Places(tmp_path).stack_file} (admin, analyst)" in text
    assert not [secret for secret in ("tk_", "pw-of-the-superuser") if secret in text]
