"""Sealing with Fernet (AES-128 in CBC mode, HMAC-SHA256) of the package `cryptography`."""

from __future__ import annotations


class FernetSeal:
    """A key is good for what it sealed itself, and for nothing else."""

    def seal(self, key: str, data: bytes) -> bytes:
        """What only the key opens."""
        # Loaded with the first session: projector and retention, and who never signs in, need no cryptography.
        from cryptography.fernet import Fernet  # noqa: PLC0415

        return Fernet(_padded(key)).encrypt(data)

    def unseal(self, key: str, sealed: bytes) -> bytes:
        """Raises ValueError where the key is another one, or what was sealed has been changed."""
        from cryptography.fernet import Fernet, InvalidToken  # noqa: PLC0415

        try:
            return Fernet(_padded(key)).decrypt(sealed)
        except InvalidToken as error:
            raise ValueError("not sealed with this key") from error


def _padded(key: str) -> str:
    """Base64 as Fernet wants it: a cookie has it without the sign that some quote."""
    return f"{key}="
