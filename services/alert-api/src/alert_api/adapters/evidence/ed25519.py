"""Ed25519 keys of the package `cryptography`, in PEM files as openssl writes them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tripline_http.errors import ConfigurationError

_PUBLIC: Final = re.compile(rb"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", re.DOTALL)
_PRIVATE: Final = re.compile(rb"-----BEGIN PRIVATE KEY-----.*?-----END PRIVATE KEY-----", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PublicKey:
    """The public half of a key; `key_id` is 16 hexadecimal digits of its SHA-256."""

    key_id: str
    pem: str

    @staticmethod
    def of(key: Ed25519PublicKey) -> PublicKey:
        raw = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        pem = key.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ).decode()
        return PublicKey(hashlib.sha256(raw).hexdigest()[:16], pem)


class Ed25519Signer:
    """Signs with one private key. `retired` are the public keys of those before it, newest first."""

    def __init__(self, key: Ed25519PrivateKey, retired: Sequence[PublicKey] = ()) -> None:
        self._key, self.public, self.retired = key, PublicKey.of(key.public_key()), tuple(retired)

    @property
    def key_id(self) -> str:
        """The name of the key."""
        return self.public.key_id

    def sign(self, data: bytes) -> bytes:
        """64 bytes."""
        return self._key.sign(data)


def read_signer(variable: str, file: Path) -> Ed25519Signer:
    """The private key of a PEM file, and the public keys that stand in it besides: those of before.

    Raises ConfigurationError.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{variable}: {file} cannot be read: {error}") from error
    private = _PRIVATE.search(data)
    try:
        key = serialization.load_pem_private_key(private[0], None) if private else None
        retired = [PublicKey.of(_public(pem)) for pem in _PUBLIC.findall(data)]
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise ConfigurationError(f"{variable}: {file}: {error}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigurationError(
            f"{variable}: {file}: expected an Ed25519 private key in PEM, as `alert-api evidence new-key` writes it"
        )
    return Ed25519Signer(key, retired)


def new_private_key() -> str:
    """PEM of a key that nobody has."""
    return (
        Ed25519PrivateKey.generate()
        .private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        .decode()
    )


def verifier(pem: bytes) -> Callable[[bytes, bytes], bool]:
    """Whether a signature is one of some bytes, by this public key. Raises ValueError for what is no such key."""
    key = _public(pem)

    def verify(signature: bytes, data: bytes) -> bool:
        try:
            key.verify(signature, data)
        except InvalidSignature:
            return False
        return True

    return verify


def _public(pem: bytes) -> Ed25519PublicKey:
    try:
        key = serialization.load_pem_public_key(pem)
    except UnsupportedAlgorithm as error:
        raise ValueError(str(error)) from error
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("expected an Ed25519 public key in PEM")
    return key
