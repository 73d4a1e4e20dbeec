"""Signing as the Standard Webhooks specification has it: HMAC-SHA256 over `id.timestamp.body`."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

PREFIX = "whsec_"
KEY_BYTES = 24


def new_secret() -> str:
    """A secret as the specification writes it."""
    return PREFIX + base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def signed_headers(secret: str, message_id: str, seconds: int, body: bytes) -> dict[str, str]:
    """The three headers of a message sent at so many seconds since the epoch."""
    key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    digest = hmac.new(key, f"{message_id}.{seconds}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
