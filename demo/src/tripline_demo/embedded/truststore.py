"""A Java trust store of the certificate authorities that this machine trusts.

A Java that comes from a wheel knows its vendor's authorities only, so where a machine has one of its own (a company's
proxy, say) every download fails. What Python and curl trust here is therefore what Java is given.
"""

from __future__ import annotations

import re
import ssl
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12Certificate, serialize_java_truststore

PASSWORD = "tripline"  # noqa: S105  (the file holds public certificates; Java wants one all the same)

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


def authorities_file(environ: Mapping[str, str]) -> Path | None:
    """The file of certificate authorities in force: SSL_CERT_FILE, else Python's default; None if there is none."""
    for candidate in (environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile):
        if candidate and Path(candidate).is_file():
            return Path(candidate)
    return None


def write(authorities: Path, target: Path) -> list[str]:
    """Writes the trust store (PKCS 12) and returns the Java options that make it the one in use."""
    entries = [
        PKCS12Certificate(certificate, f"authority-{n}".encode())
        for n, certificate in enumerate(_certificates(authorities.read_bytes()))
    ]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(serialize_java_truststore(entries, BestAvailableEncryption(PASSWORD.encode())))
    return [
        f"-Djavax.net.ssl.trustStore={target}",
        f"-Djavax.net.ssl.trustStorePassword={PASSWORD}",
        "-Djavax.net.ssl.trustStoreType=PKCS12",
    ]


def _certificates(bundle: bytes) -> Iterator[x509.Certificate]:
    """Those that can be read. Systems ship some that break the rules of X.509; they hinder nobody but themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cryptography reads them today, and says that it will not for ever
        for block in _CERTIFICATE.findall(bundle):
            try:
                yield x509.load_pem_x509_certificate(block)
            except ValueError:
                continue
