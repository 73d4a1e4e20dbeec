"""Where webhooks may go, and which addresses are an inside."""

from __future__ import annotations

import pytest

from alert_api.domain.webhooks.reach import Reach

OPEN = Reach(frozenset({"hooks.example", "10.1.2.3"}))
INSIDE = Reach(OPEN.hosts, private=True, plain=True)


@pytest.mark.parametrize(
    "url", ["https://hooks.example/a?b=c", "https://HOOKS.example:8443/", "https://10.1.2.3/x"]
)
def test_these_may_be(url: str) -> None:
    assert OPEN.refuses_url(url) is None


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://hooks.example/", "https://host/path"),
        ("ftp://hooks.example/", "https://host/path"),
        ("https:///path", "https://host/path"),
        ("https://hooks.example:99999/", "https://host/path"),
        ("https://hooks.example/a b", "https://host/path"),
        ("https://hooks.example/ö", "https://host/path"),
        ("https://[::1", "https://host/path"),
        ("https://ada:secret@hooks.example/", "without user"),
        ("https://hooks.example/#part", "fragment"),
        ("https://evil.example/", "TRIPLINE_WEBHOOK_HOSTS"),
        ("https://hooks.example.evil.example/", "TRIPLINE_WEBHOOK_HOSTS"),
        ("https://hooks.example@evil.example/", "without user"),
    ],
)
def test_these_may_not(url: str, said: str) -> None:
    assert said in (OPEN.refuses_url(url) or "")


def test_nothing_may_be_where_no_host_is_named() -> None:
    assert Reach().refuses_url("https://hooks.example/") is not None
    assert INSIDE.refuses_url("http://hooks.example/") is None


INSIDES = [
    "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
    "::1", "::", "fe80::1%eth0", "fc00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
    "2002:7f00:1::", "224.0.0.1", "ff02::1", "255.255.255.255", "192.0.2.1",
]  # fmt: skip


@pytest.mark.parametrize("address", INSIDES)
def test_an_inside_is_refused_however_it_is_written(address: str) -> None:
    assert OPEN.refuses_address(address) is not None


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822", "::ffff:93.184.216.34"]
)
def test_an_outside_is_not(address: str) -> None:
    assert OPEN.refuses_address(address) is None


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "::1", "fe80::1"])
def test_an_inside_may_be_told_where_the_installation_says_so(address: str) -> None:
    assert INSIDE.refuses_address(address) is None


@pytest.mark.parametrize("address", ["0.0.0.0", "224.0.0.1", "::"])
def test_what_is_no_host_never_is(address: str) -> None:
    assert INSIDE.refuses_address(address) is not None
