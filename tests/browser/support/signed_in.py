"""A browser that is signed in before its first window is looked at."""

from __future__ import annotations

from playwright.sync_api import BrowserContext

SIGN_IN = """async key => {
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch("/v1/session", { method: "POST", headers, body: JSON.stringify({ key }) });
    return answer.status;
}"""


def open_session(context: BrowserContext, base: str, key: str) -> None:
    """All windows of the context have the session's cookie from now on; none of them knows the key."""
    page = context.new_page()
    page.goto(f"{base}/livez")
    status = page.evaluate(SIGN_IN, key)
    assert status == 201, f"signing in was answered with {status}"
    page.close()
