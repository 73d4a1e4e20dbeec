"""The committed list of jars and their SHA-256, in the format of `sha256sum`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from tripline_demo.errors import JarsUnavailable


def load(path: Path) -> dict[str, str]:
    """Checksum by file name relative to the jar folder. Raises JarsUnavailable on a line that is none."""
    expected: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        digest, _, name = line.partition("  ")
        if len(digest) != 64 or not name:
            raise JarsUnavailable(
                f"{path}, line {number}, is not `<sha256>  <file>`; `make lock` writes the file anew."
            )
        expected[name] = digest
    return expected


def compute(folder: Path) -> dict[str, str]:
    """The checksums of the jars that are there."""
    checksums: dict[str, str] = {}
    for jar in sorted(folder.glob("*/*.jar")):
        with jar.open("rb") as content:
            checksums[jar.relative_to(folder).as_posix()] = hashlib.file_digest(content, "sha256").hexdigest()
    return checksums


def save(path: Path, checksums: Mapping[str, str]) -> None:
    """Writes the list, sorted by name."""
    path.write_text("".join(f"{checksums[name]}  {name}\n" for name in sorted(checksums)), encoding="utf-8")


def differences(expected: Mapping[str, str], actual: Mapping[str, str]) -> list[str]:
    """The faults of the jars, one sentence part each; empty when they are exactly those that are committed."""
    problems = [f"{name} is missing" for name in expected if name not in actual]
    problems += [f"{name} is not on the list" for name in actual if name not in expected]
    for name, digest in expected.items():
        if name in actual and actual[name] != digest:
            problems.append(f"{name} has SHA-256 {actual[name]} instead of {digest}")
    return problems
