"""Files of engine and archiver are their owner's alone, whatever the umask."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tripline_engine.private_files import private_files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_what_is_made_within_is_closed_to_others(tmp_path: Path, umask: int) -> None:
    inside, outside, folder = tmp_path / "inside", tmp_path / "outside", tmp_path / "folder"
    before = os.umask(umask)
    try:
        with private_files():
            inside.touch()
            folder.mkdir()
            subprocess.run([sys.executable, "-c", "open('of-a-child', 'w')"], cwd=folder, check=True)
        outside.touch()
    finally:
        os.umask(before)
    assert (mode(inside), mode(folder), mode(folder / "of-a-child")) == (0o600, 0o700, 0o600)
    assert mode(outside) == 0o666 & ~umask
