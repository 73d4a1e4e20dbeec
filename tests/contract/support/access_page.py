"""The rights of docs/access.md: what each endpoint asks for, and which role may call it, as the code says.

`python -m tests.contract.support.access_page` writes the page's tables anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from flask.testing import FlaskClient

from tests.contract.support.http_apps import HOLDERS, SERVICES, app_named, endpoints
from tripline_http.keys.roles import ROLES

PAGE: Final = Path(__file__).parents[3] / "docs" / "access.md"
OPEN: Final = "open"
ANY_KEY: Final = "any key"
ELSEWHERE: Final = "the registry decides"
LET_IN: Final = "✓"
REFUSED: Final = "–"

# What declares no scope of its own: probes, documents, the console's files, its data from elsewhere, its sessions.
PROBES: Final = {
    f"GET {path}": OPEN
    for path in ("/livez", "/readyz", "/metrics", "/openapi.json", "/docs", "/docs/{name}")
}
CONSOLE_PAGES: Final = (
    "/",
    "/live",
    "/health",
    "/cases",
    "/cases/{_case}",
    "/cases/snoozes",
    "/webhooks",
    "/rules",
    "/rules/backtests",
    "/rules/mappings",
    "/rules/{_rule}",
    "/lists",
    "/alerts",
    "/alerts/{_alert}",
    "/changes",
    "/controls",
    "/rejected",
    "/audit",
    "/keys",
)
CONSOLE: Final = {
    **{f"GET {page}": OPEN for page in CONSOLE_PAGES},
    "GET /console/{name}": OPEN,
    "GET /console/files/{of}/{name}": OPEN,
    "GET /console/event-type": OPEN,
    # Who signs in has no session yet: the key is in the body.
    "POST /v1/session": OPEN,
    "GET /v1/session": ANY_KEY,
    "DELETE /v1/session": ANY_KEY,
    "GET /console/engine": "alerts:read",
    "GET /console/transactions": "alerts:read",
    "GET /console/generator/{path}": "traffic:read",
    **{f"{method} /console/generator/{{path}}": "traffic:write" for method in ("POST", "PUT", "DELETE")},
    **{f"{method} /console/registry/{{path}}": ELSEWHERE for method in ("GET", "POST", "PUT", "DELETE")},
}
_TABLES: Final = re.compile(r"^\| (?:role|service) \|.*\n(?:^\|.*\n)*", re.MULTILINE)


def rights() -> dict[tuple[str, str], str]:
    """What each endpoint asks for, by service and name."""
    rights = {}
    for service in SERVICES:
        known = {**_declared(app_named(service).test_client()), **PROBES}
        known |= CONSOLE if service == "alert-api" else {}
        for endpoint in endpoints():
            if endpoint.service == service:
                rights[service, endpoint.name] = known[endpoint.name]
    return rights


def _declared(client: FlaskClient) -> dict[str, str]:
    """The scope of each documented operation, as its route declares it."""
    return {
        f"{method.upper()} {path}": operation["x-required-scope"]
        for path, item in client.get("/openapi.json").get_json()["paths"].items()
        for method, operation in item.items()
        if method != "parameters" and "x-required-scope" in operation
    }


def lets_in(right: str, role: str) -> bool:
    """Whether a key of that role is let in."""
    return right in (OPEN, ANY_KEY, ELSEWHERE) or right in ROLES[role]


def tables() -> list[str]:
    """The page's tables as the code has them: roles, and endpoints."""
    roles = [
        (role, _code(name for name, held in HOLDERS.items() if held == role), _code(sorted(scopes)))
        for role, scopes in ROLES.items()
    ]
    calls = [
        (
            service,
            f"`{name}`",
            right if right in (OPEN, ANY_KEY, ELSEWHERE) else f"`{right}`",
            *(LET_IN if lets_in(right, role) else REFUSED for role in ROLES),
        )
        for (service, name), right in sorted(rights().items(), key=_by_address)
    ]
    return [
        _table(("role", "keys", "scopes"), roles),
        _table(("service", "endpoint", "asks for", *ROLES), calls),
    ]


def _by_address(row: tuple[tuple[str, str], str]) -> tuple[int, str, str]:
    (service, name), _ = row
    method, address = name.split(" ")
    return SERVICES.index(service), address, method


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def shown() -> list[str]:
    """The page's tables as they are now."""
    return _TABLES.findall(PAGE.read_text(encoding="utf-8"))


def write() -> None:
    """Replaces the page's tables."""
    fresh = iter(tables())
    text = _TABLES.sub(lambda _: next(fresh), PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
