"""What is wrong with rule files, or between them and the registry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rules_registry.errors import RegistryError


@dataclass(frozen=True, slots=True)
class FileProblem:
    """One thing that is wrong: in which document of which file, from 1, on which line, at which path in it, and what
    was expected there. The path is empty where the whole document is meant."""

    file: str
    document: int
    line: int
    path: str
    message: str

    def __str__(self) -> str:
        path = f"{self.path}: " if self.path else ""
        return f"{self.file}:{self.line}: document {self.document}: {path}{self.message}"


class InvalidRuleFiles(RegistryError):
    """Rule files that cannot be applied, with everything that is wrong with them."""

    def __init__(self, problems: Iterable[FileProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
