"""What a client fails at beyond the files that it reads."""

from __future__ import annotations

from collections.abc import Sequence

from rules_registry.errors import RegistryError


class RegistryUnreachable(RegistryError):
    """The registry gave no answer, or none that is its own."""


class RequestRefused(RegistryError):
    """The registry said no; `kind` is the last part of the problem's type, empty where it has none. `change_id` is the
    change that stands in the way, if one does."""

    def __init__(
        self, status: int, kind: str, detail: str, errors: Sequence[str] = (), change_id: int | None = None
    ) -> None:
        super().__init__("\n  ".join([f"{detail} ({' '.join(filter(None, (str(status), kind)))})", *errors]))
        self.status = status
        self.kind = kind
        self.change_id = change_id


class RuleNotNamed(RegistryError):
    """No rule, or more than one, is called so."""


class NotApplied(RegistryError):
    """A plan that cannot be carried out, or not further than it was."""


class FilesUnusable(RegistryError):
    """Files that cannot be read or written; the text says which and why."""
