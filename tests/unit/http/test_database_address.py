"""Where a DSN leads, and whether that server's certificate is verified."""

from __future__ import annotations

import os

import pytest

from tripline_http.database_address import checked_dsn
from tripline_http.errors import ConfigurationError

ALLOWED = {
    "loopback": "postgresql://a:b@127.0.0.1:5432/x",
    "loopback of IPv6": "postgresql://a:b@[::1]/x",
    "its name": "host=localhost dbname=x",
    "a socket": "postgresql:///x",
    "a socket's folder": "host=/run/postgresql",
    "an abstract socket": "host=@postgres",
    "verified": "postgresql://a:b@db/x?sslmode=verify-full&sslrootcert=/ca.pem",
    "verified authority": "postgresql://a:b@db/x?sslmode=verify-ca&sslrootcert=/ca.pem",
    "verified, with the system's authorities": "host=db sslrootcert=system",
    "a verified service": "service=db sslmode=verify-full",
}
REFUSED = {
    "in clear": "postgresql://a:secret@db/x?sslmode=disable",
    "as it comes": "postgresql://a:secret@db/x",
    "encrypted for whoever answers": "postgresql://a:secret@db/x?sslmode=require",
    "an address": "postgresql://a:secret@10.0.0.1/x",
    "all addresses": "postgresql://a:secret@0.0.0.0/x",
    "one of two": "host=127.0.0.1,db password=secret",
    "loopback's name at another address": "host=localhost hostaddr=10.0.0.1 password=secret",
    "a service": "service=db password=secret",
    "nothing that libpq reads": "secret",
    "a word that libpq does not know": "host=127.0.0.1 password=secret port_=1",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)
    return monkeypatch


@pytest.mark.parametrize("what", ALLOWED)
def test_it_is_taken(what: str) -> None:
    assert checked_dsn("DSN", ALLOWED[what], allow_unverified=False) == ALLOWED[what]


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused_without_a_word_of_the_password(what: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^DSN ") as refused:
        checked_dsn("DSN", REFUSED[what], allow_unverified=False)
    assert "secret" not in str(refused.value)


def test_the_operator_may_say_that_nobody_is_between() -> None:
    assert checked_dsn("DSN", "postgresql://db/x", allow_unverified=True) == "postgresql://db/x"


def test_the_variables_of_libpq_count(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("PGSSLMODE", "verify-full")
    assert checked_dsn("DSN", "postgresql://db/x", allow_unverified=False)
    with pytest.raises(ConfigurationError, match="sslmode=require"):
        checked_dsn("DSN", "postgresql://db/x?sslmode=require", allow_unverified=False)
    environment.setenv("PGSSLMODE", "allow")
    environment.setenv("PGHOST", "db")
    with pytest.raises(ConfigurationError, match="names db, beyond this machine, and sslmode=allow"):
        checked_dsn("DSN", "postgresql:///x", allow_unverified=False)
