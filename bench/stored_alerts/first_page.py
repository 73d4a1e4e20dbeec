"""How long the console takes until its first page of alerts is there, in a headless Chromium on loopback."""

from __future__ import annotations

import os
import shutil
import time
from typing import Final

import httpx
from playwright.sync_api import BrowserContext, Error, sync_playwright

_NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_PAGES: Final = {"alerts": ("/alerts", "#alert-list > li"), "cases": ("/cases", "#case-list > li")}
_TIMES: Final = 5
_SIGN_IN: Final = """async key => {
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch("/v1/session", { method: "POST", headers, body: JSON.stringify({ key }) });
    return answer.status;
}"""


def first_pages(client: httpx.Client) -> dict[str, list[float]]:
    """Milliseconds from asking for the page until its first row is visible, each time in a browser that has nothing
    kept but its session; empty where there is no Chromium."""
    chromium = os.environ.get("TRIPLINE_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if chromium is None:
        return {}
    base, key = str(client.base_url).rstrip("/"), client.headers["Authorization"].removeprefix("Bearer ")
    with sync_playwright() as playwright:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        took: dict[str, list[float]] = {name: [] for name in _PAGES}
        for _ in range(_TIMES):
            for name, (path, row) in _PAGES.items():
                context = browser.new_context(viewport={"width": 1280, "height": 900})
                _sign_in(context, base, key)
                took[name].append(_opened(context, base + path, row))
                context.close()
        browser.close()
    return took


def _sign_in(context: BrowserContext, base: str, key: str) -> None:
    page = context.new_page()
    page.goto(f"{base}/livez")
    status = page.evaluate(_SIGN_IN, key)
    if status != 201:
        raise Error(f"signing in was answered with {status}")
    page.close()


def _opened(context: BrowserContext, address: str, row: str) -> float:
    page = context.new_page()
    begin = time.monotonic()
    page.goto(address, wait_until="commit")
    page.locator(row).first.wait_for(timeout=30_000)
    return (time.monotonic() - begin) * 1000
