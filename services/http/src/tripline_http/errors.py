"""Everything that this package raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final


class ConfigurationError(Exception):
    """A setting is wrong. The text is one sentence for the operator and names the setting, never a secret."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong input field; `field` is its path in dots (`groupingKeyNames.0`, `header.If-Match`)."""

    field: str
    message: str


class ProblemError(Exception):
    """An answer that is an error, in the words of RFC 9457.

    `kind` is the last part of the problem type (`urn:tripline:problem:<kind>`); `None` means about:blank,
    which says no more than the status does. `extra` are further members of the body, `headers` go into the
    answer.
    """

    def __init__(
        self,
        status: int,
        kind: str | None,
        detail: str,
        *,
        title: str | None = None,
        errors: Sequence[FieldError] = (),
        extra: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.title = title
        self.errors = tuple(errors)
        self.extra = dict(extra or {})
        self.headers = dict(headers or {})


def invalid_input(
    errors: Sequence[FieldError], detail: str = "The request has invalid fields."
) -> ProblemError:
    """The 422 for input that was read, but is wrong: one entry of `errors` per wrong field."""
    return ProblemError(422, "invalid-input", detail, errors=errors)


def bad_request(detail: str, *, errors: Sequence[FieldError] = ()) -> ProblemError:
    """The 400 for input that could not be read."""
    return ProblemError(400, "bad-request", detail, errors=errors)


ISSUER_RETRY_SECONDS: Final = 10.0
"""An issuer of tokens is asked no more often than this, whatever tokens come."""


class TokenRefused(Exception):
    """A token is not good; `reason` is a word for the log, the text a sentence for its holder."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class IssuerUnavailable(Exception):
    """The keys of the issuer of tokens cannot be had; the text says why, for the log."""


class KeysUnavailable(Exception):
    """The store of keys cannot be asked; the text says why, for the log."""
