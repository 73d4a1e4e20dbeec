"""The checkout and its run-time folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tripline_demo.errors import DemoError


def project_root() -> Path:
    """The checkout this package is installed from (editable). Raises DemoError when it is not a checkout."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "ivy.xml").is_file() and (folder / "jars.sha256").is_file():
            return folder
    raise DemoError(
        "The demo runs from a checkout of Tripline only; run `make env` there and use its .venv/bin/tripline."
    )


def var_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Run-time data: TRIPLINE_VAR, else `var` in the checkout. Not made here."""
    settings = os.environ if environ is None else environ
    chosen = settings.get("TRIPLINE_VAR")
    return Path(chosen).resolve() if chosen else project_root() / "var"
