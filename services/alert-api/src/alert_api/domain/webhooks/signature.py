"""Signing as the Standard Webhooks specification has it: HMAC-SHA256 over `id.timestamp.body`."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

PREFIX = "whsec_"
KEY_BYTES = 24


@dataclass(frozen=True, slots=True)
class Secrets:
    """What a webhook signs with.

    :ivar former: the secret before this one, with which it signs too until `former_until`, ms since the epoch
    """

    current: str = field(repr=False)
    former: str | None = field(default=None, repr=False)
    former_until: int = 0

    def former_at(self, now: int) -> str | None:
        """The former one, as long as it holds; `now` is in ms since the epoch."""
        return self.former if now < self.former_until else None


def new_secret() -> str:
    """A secret as the specification writes it."""
    return PREFIX + base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def signed_headers(
    secret: str, message_id: str, seconds: int, body: bytes, former: str | None = None
) -> dict[str, str]:
    """The three headers of a message sent at so many seconds since the epoch: signed with the former secret as well,
    where there is one, so that receivers may have either."""
    message = f"{message_id}.{seconds}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(
            _signature(key, message) for key in (secret, former) if key is not None
        ),
    }


def _signature(secret: str, message: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    return f"v1,{base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode()}"
