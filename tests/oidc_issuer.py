"""An OpenID Connect issuer for tests: keys of its own, published over HTTP on loopback, and tokens signed with them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

AUDIENCE: Final = "tripline"
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


def new_key(algorithm: str, bits: int = 2048) -> PrivateKey:
    """A private key for RS256, or for ES256."""
    if algorithm == "RS256":
        return rsa.generate_private_key(public_exponent=65537, key_size=bits)
    return ec.generate_private_key(ec.SECP256R1())


def published(key_id: str, key: PrivateKey, **more: str) -> dict[str, Any]:
    """The entry of a key set for this key."""
    public = key.public_key()
    entry: dict[str, Any]
    if isinstance(public, rsa.RSAPublicKey):
        entry = jwt.algorithms.RSAAlgorithm.to_jwk(public, as_dict=True)
    else:
        entry = jwt.algorithms.ECAlgorithm.to_jwk(public, as_dict=True)
    entry.pop("key_ops", None)
    return {**entry, "kid": key_id, "use": "sig", **more}


def pem_of(key: PrivateKey) -> bytes:
    """Its public half, as anybody may have it."""
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


class OidcIssuer:
    """Running. `key_set` and `discovery` are what it publishes; `answers` may be changed for what goes wrong."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.private: dict[str, PrivateKey] = {}
        self.key_set: list[dict[str, Any]] = []
        self.discovery: dict[str, Any] = {"issuer": url, "jwks_uri": f"{url}/keys"}
        self.status = 200
        self.asked: list[str] = []
        for algorithm in ("RS256", "ES256"):
            self.add_key(f"first-{algorithm}", algorithm)

    def add_key(self, key_id: str, algorithm: str) -> None:
        """A new key, published."""
        self.private[key_id] = new_key(algorithm)
        self.key_set.append(published(key_id, self.private[key_id], alg=algorithm))

    def withdraw_key(self, key_id: str) -> None:
        """Published no more; what was signed with it can be signed still."""
        self.key_set = [entry for entry in self.key_set if entry["kid"] != key_id]

    def claims(self, **changed: Any) -> dict[str, Any]:
        """Those of a good token of ada, an analyst; None leaves one out."""
        now = int(time.time())
        usual = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "248289761001",
            "preferred_username": "ada",
            "roles": ["offline_access", "analyst"],
            "iat": now,
            "exp": now + 300,
        }
        return {name: value for name, value in {**usual, **changed}.items() if value is not None}

    def token(self, algorithm: str = "RS256", key_id: str | None = None, **changed: Any) -> str:
        """A good token, but for what is changed in its claims."""
        name = key_id or f"first-{algorithm}"
        headers = {"kid": name}
        return jwt.encode(self.claims(**changed), self.private[name], algorithm=algorithm, headers=headers)

    def environment(self) -> Mapping[str, str]:
        """The settings of a service that trusts it."""
        return {"TRIPLINE_OIDC_ISSUER": self.url, "TRIPLINE_OIDC_AUDIENCE": AUDIENCE}

    def times_asked_for_keys(self) -> int:
        """How often its key set was fetched."""
        return self.asked.count("/keys")


@contextmanager
def running_issuer() -> Iterator[OidcIssuer]:
    """On a port of its own, until the end of the `with`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    issuer = OidcIssuer(f"http://127.0.0.1:{server.server_port}")
    _Handler.issuers[server.server_port] = issuer
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    issuers: Final[dict[int, OidcIssuer]] = {}

    def do_GET(self) -> None:
        assert isinstance(self.server, ThreadingHTTPServer)
        issuer = self.issuers[self.server.server_port]
        issuer.asked.append(self.path)
        bodies = {"/.well-known/openid-configuration": issuer.discovery, "/keys": {"keys": issuer.key_set}}
        body = json.dumps(bodies.get(self.path)).encode()
        self.send_response(issuer.status if self.path in bodies else 404)
        if issuer.status in (301, 302):
            self.send_header("Location", f"{issuer.url}/keys")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""
