"""The layout of a page: it is never wider than its window."""

from __future__ import annotations

import pytest

from tests.browser.windows import Window

WIDER = """width => [...document.querySelectorAll("*")].filter((node) => node.getBoundingClientRect().right > width)
    .map((node) => node.outerHTML.slice(0, 90)).slice(-5)"""


def fits(window: Window, width: int) -> None:
    """Fails if one has to scroll sideways."""
    if window.page.evaluate("document.documentElement.scrollWidth") > width:
        pytest.fail(f"wider than {width}: {window.page.evaluate(WIDER, width)}")
