"""The layout of a page: it is never wider than its window."""

from __future__ import annotations

from tests.browser.windows import Window


def fits(window: Window, width: int) -> None:
    """Fails if one has to scroll sideways."""
    assert window.page.evaluate("document.documentElement.scrollWidth") <= width
