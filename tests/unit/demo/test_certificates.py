"""The broker's certificate and who signs it."""

from __future__ import annotations

import datetime as dt
import ipaddress

from cryptography import x509
from cryptography.x509 import verification

from tripline_demo.deployment.certificates import VALID, certify

NOW = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)


def certificates(text: str) -> list[x509.Certificate]:
    return x509.load_pem_x509_certificates(text[text.index("-----BEGIN CERT") :].encode())


def test_a_client_that_trusts_the_authority_trusts_each_name() -> None:
    made = certify(["kafka", "127.0.0.1"], NOW)
    [authority] = certificates(made.authority)
    certificate, signed_by = certificates(made.key_and_certificate)
    assert signed_by == authority
    builder = verification.PolicyBuilder().store(verification.Store([authority])).time(NOW)
    for name in (x509.DNSName("kafka"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))):
        assert builder.build_server_verifier(name).verify(certificate, [])[-1] == authority


def test_it_ends() -> None:
    certificate, _ = certificates(certify(["kafka"], NOW).key_and_certificate)
    assert certificate.not_valid_after_utc - NOW == VALID


def test_each_has_keys_of_its_own() -> None:
    assert certify(["kafka"], NOW).key_and_certificate != certify(["kafka"], NOW).key_and_certificate
