"""The layout of a page: it is never wider than its window."""

from __future__ import annotations

import itertools
from typing import Final, Literal

import pytest

from tests.browser.support.pictures import picture
from tests.browser.windows import Window

WIDTHS: Final = (390, 1280)
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
WIDER = """width => [...document.querySelectorAll("*")].filter((node) => node.getBoundingClientRect().right > width)
    .map((node) => node.outerHTML.slice(0, 90)).slice(-5)"""


def fits(window: Window, width: int) -> None:
    """Fails if one has to scroll sideways."""
    if window.page.evaluate("document.documentElement.scrollWidth") > width:
        pytest.fail(f"wider than {width}: {window.page.evaluate(WIDER, width)}")


def looks_well(window: Window, name: str) -> None:
    """Fits narrow and wide windows; pictures of both, in both colours, for who looks at them."""
    for scheme, width in itertools.product(SCHEMES, WIDTHS):
        window.page.emulate_media(color_scheme=scheme)
        window.page.set_viewport_size({"width": width, "height": 844})
        fits(window, width)
        picture(window.page, f"{name}-{width}-{scheme}", full_page=True)
