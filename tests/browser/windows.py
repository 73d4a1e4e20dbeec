"""A window of the console as one person sees it, and what went wrong in it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import ConsoleMessage, Page, Route, expect

# Chromium writes a line for every answer that is no success; the tests that provoke one expect it.
_ANSWERED = re.compile(r"Failed to load resource: the server responded with a status of (\d+)")

WATCH_POLICY = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
    window.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`));
"""


@dataclass
class Window:
    """One page, signed in or not. `troubles` are errors of scripts and refused answers, in order; `told` is
    what the browser said of them."""

    page: Page
    base: str
    troubles: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.troubles.append(f"script: {error}"))
        self.page.add_init_script(WATCH_POLICY)

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not self._is_asked_who(message) and not self._has_no_seat(message):
            answered = _ANSWERED.search(message.text)
            told = f"{message.text} {message.location.get('url', '')}".strip()
            self.troubles.append(f"answered {answered[1]}" if answered else told)
            self.told.append(told)

    def _is_asked_who(self, message: ConsoleMessage) -> bool:
        """A page asks who is signed in, and is told that nobody is: nothing is wrong."""
        return "401" in message.text and message.location["url"] == f"{self.base}/v1/session"

    def _has_no_seat(self, message: ConsoleMessage) -> bool:
        """Windows of one actor have few streams, and those of tests before may be about to end: a page that gets none
        asks for the newest alerts."""
        return "503" in message.text and message.location["url"].endswith("/v1/alerts/stream")

    def go(self, path: str) -> None:
        """To another address of the console."""
        self.page.goto(self.base + path)

    def sign_in(self, key: str) -> None:
        """Types the key; the tab keeps it."""
        self.go("/")
        self.page.get_by_label("API key").fill(key)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("navigation", name="Views")).to_be_visible()

    def shows(self, view: str) -> None:
        """Waits until that view is there."""
        expect(self.page.get_by_role("link", name=view, exact=True)).to_have_attribute("aria-current", "page")

    def violations(self) -> list[str]:
        """What the content security policy refused on this page."""
        violations: list[str] = self.page.evaluate("window.violations")
        return violations

    def is_clean(self, *allowed: str) -> None:
        """Fails for script errors and refused answers other than the allowed ones, and for policy violations."""
        assert self.violations() == []
        assert [trouble for trouble in self.troubles if trouble not in allowed] == [], self.told


def answers(window: Window, path: str, body: dict[str, Any]) -> None:
    """From now on that address answers so in this window."""

    def fulfil(route: Route) -> None:
        route.fulfill(status=body.get("status", 200), content_type="application/json", body=json.dumps(body))

    window.page.route(path, fulfil)
