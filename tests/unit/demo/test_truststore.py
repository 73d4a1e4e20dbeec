"""What the machine trusts is what Java is given, and one strange certificate does not hinder the others."""

from __future__ import annotations

import datetime as dt
import ssl
import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tripline_demo.embedded import truststore
from tripline_demo.embedded.java import find_java

UNREADABLE = b"-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n"


def authority(name: str) -> bytes:
    """A self-signed certificate, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    begin = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begin)
        .not_valid_after(begin + dt.timedelta(days=3650))
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM)


def test_java_reads_the_authorities_of_the_machine_and_an_unreadable_one_is_left_out(tmp_path: Path) -> None:
    bundle = tmp_path / "authorities.pem"
    bundle.write_bytes(b"# a comment\n" + authority("first") + UNREADABLE + authority("second"))
    store = tmp_path / "java" / "truststore.p12"
    options = truststore.write(bundle, store)
    assert f"-Djavax.net.ssl.trustStore={store}" in options
    # Java itself is the judge: it connects nowhere, but it loads the store and counts what it trusts.
    program = tmp_path / "Count.java"
    program.write_text(
        "import javax.net.ssl.*; import java.security.KeyStore; class Count { public static void main(String[] a)"
        " throws Exception { var f = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());"
        " f.init((KeyStore) null); for (var m : f.getTrustManagers()) for (var c : ((X509TrustManager) m)"
        ".getAcceptedIssuers()) System.out.println(c.getSubjectX500Principal()); } }"
    )
    java = find_java({"PATH": "/usr/bin:/bin"}, tmp_path / "wrapper")
    command = [str(java.executable), *options, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "jdk.compiler" in done.stderr:
        pytest.skip("this Java has no compiler: the count needs one")
    assert sorted(done.stdout.split()) == ["CN=first", "CN=second"], done.stderr


@pytest.mark.parametrize("setting", ["mine.pem", "nowhere.pem", None])
def test_the_setting_comes_first_and_the_default_of_python_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str | None
) -> None:
    mine = tmp_path / "mine.pem"
    mine.write_bytes(authority("mine"))
    default = tmp_path / "default.pem"
    default.write_bytes(authority("default"))
    paths = ssl.get_default_verify_paths()._replace(cafile=str(default))
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    environ = {} if setting is None else {"SSL_CERT_FILE": str(tmp_path / setting)}
    assert truststore.authorities_file(environ) == (mine if setting == "mine.pem" else default)
