"""Finds a Chromium, or gets one where that may be done without asking: on a build server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import Playwright

SHELL = "chromium-headless-shell"
"""Chromium without windows of its own: a page costs it a quarter of the processor time, and of the waiting."""
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 300
HOW = f"apt-get install {SHELL} (or .venv/bin/playwright install chromium, or TRIPLINE_CHROMIUM=path)"
# A test browser has nothing to look up elsewhere; as root it does not start with its sandbox.
ARGUMENTS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", *(("--no-sandbox",) if os.geteuid() == 0 else ()),
)  # fmt: skip


def find(playwright: Playwright, environ: Mapping[str, str]) -> Path | None:
    """TRIPLINE_CHROMIUM, one on PATH (the lightest first), or the one that playwright brought."""
    named = environ.get("TRIPLINE_CHROMIUM")
    if named:
        return Path(named)
    on_path = next((path for name in NAMES if (path := shutil.which(name))), None)
    if on_path:
        return Path(on_path)
    brought = Path(playwright.chromium.executable_path)
    return brought if brought.is_file() else None


def install() -> str:
    """Tries Debian's packages as root, then playwright's own; what they said if none helped."""
    commands = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120"]
        install = [*quiet, "install", "-y", "--no-install-recommends", "fonts-dejavu-core"]
        commands[:0] = [[*quiet, "update"], [*install, SHELL], [*install, "chromium"]]
    said = []
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            said.append(f"{' '.join(command)}: not done in {SECONDS} s")
            continue
        if done.returncode == 0 and "update" not in command:
            return ""
        said.append(f"{' '.join(command)}: {done.stderr.strip()[-300:]}")
    return "\n".join(said)
