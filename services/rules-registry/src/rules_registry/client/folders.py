"""Rule files on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from rules_registry.client.errors import FilesUnusable
from rules_registry.domain.rule_files.desired_rule import RuleFile

SUFFIXES: Final = (".yaml", ".yml")


def read_files(paths: Iterable[Path]) -> list[RuleFile]:
    """Files as they are named, and of folders every YAML file below, sorted, but in hidden folders. Raises
    FilesUnusable."""
    files: dict[Path, RuleFile] = {}
    for path in paths:
        for file in _below(path):
            try:
                files.setdefault(file.resolve(), RuleFile(str(file), file.read_text(encoding="utf-8-sig")))
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
                raise FilesUnusable(f"{file} cannot be read: {reason}.") from error
    return list(files.values())


def _below(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for file in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
        if file.suffix in SUFFIXES and file.is_file() and not hidden:
            yield file


def write_files(folder: Path, texts: Mapping[str, str], *, overwrite: bool) -> None:
    """Raises FilesUnusable; without `overwrite` also where a YAML file is there already, before any is written."""
    there = [name for name in texts if name.endswith(SUFFIXES) and (folder / name).exists()]
    if there and not overwrite:
        raise FilesUnusable(
            f"{folder / there[0]} is there already, and may have comments: nothing was written. --overwrite does it."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise FilesUnusable(f"{folder} cannot be written: {error.strerror}.") from error
