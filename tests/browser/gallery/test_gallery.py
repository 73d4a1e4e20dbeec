"""Pictures of every page and form at two widths in both colour schemes, for who looks at them: `make pictures`.

No part of `make test`: it looks for what a program can find (a page wider than its window, what axe calls serious,
refused answers), and a person finds the rest in the pictures.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final, Literal

import pytest
from playwright.sync_api import Browser, Error, expect

from tests.browser.gallery.contents import drafted, filled
from tests.browser.gallery.dialogs import dialogs
from tests.browser.gallery.faults import faults_of
from tests.browser.gallery.scenes import EMPTY, Scene, pages
from tests.browser.support.four_eyes import four_eyes_console
from tests.browser.support.layout import SCHEMES, WIDTHS
from tests.browser.support.pictures import picture
from tests.browser.support.signed_in import open_session
from tests.browser.windows import Window
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.pictures, pytest.mark.timeout(1800)]

HEIGHT: Final = 844
# Forms scroll in their dialogs: a picture of all of one needs a window that is as high.
NEEDED = """() => { const open = document.querySelector("dialog[open]");
    return Math.max(844, open?.classList.contains("side") ? open.scrollHeight : 0); }"""
WIDEST: Final = 2560
PATIENCE_MS: Final = 30_000


@pytest.fixture(scope="module")
def scenes(running_stack: RunningStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Scene]]:
    """All of them, once the line holds what they show; and a second console, in which changes need approval."""
    made = filled(running_stack)
    with four_eyes_console(running_stack, tmp_path_factory.mktemp("four-eyes")) as (console, registry):
        drafted(running_stack, registry, made.rules)
        yield [*EMPTY, *pages(made, console), *dialogs(made)]


@pytest.fixture
def windows(browser: Browser, stack: RunningStack) -> Iterator[dict[str | None, Window]]:
    """One window for each key, and one for nobody."""
    opened: dict[str | None, Window] = {}
    contexts = []
    for who in (None, "viewer", "analyst", "approver", "ops", "admin", "auditor"):
        context = browser.new_context(locale="en-GB", timezone_id="Europe/Berlin")
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        opened[who] = Window(context.new_page(), stack.file["console"].rstrip("/"))
        if who is not None:
            open_session(context, opened[who].base, stack.file["apiKeys"][who])
    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("width", "scheme"), [*product(WIDTHS, SCHEMES), (WIDEST, "light")])
def test_pictures(
    windows: dict[str | None, Window], scenes: list[Scene], width: int, scheme: Literal["light", "dark"]
) -> None:
    """All scenes; every fault of them is told, not the first alone."""
    faults: dict[str, list[str]] = {}
    for scene in scenes:
        window = windows[scene.who]
        window.page.emulate_media(color_scheme=scheme)
        window.page.set_viewport_size({"width": width, "height": HEIGHT})
        if told := look(window, scene, width, scheme):
            faults[scene.name] = told
    assert faults == {}


def look(window: Window, scene: Scene, width: int, scheme: str) -> list[str]:
    """Goes there, takes the picture; what is wrong."""
    window.troubles.clear()
    page = window.page
    try:
        page.goto((scene.console or window.base) + scene.path)
        expect(page.get_by_text(scene.text).locator("visible=true").first).to_be_visible()
        if scene.act is not None:
            scene.act(page)
    except (AssertionError, Error) as error:
        return [f"not there: {str(error)[:300]}"]
    page.set_viewport_size({"width": width, "height": page.evaluate(NEEDED)})
    page.evaluate("scrollTo(0, 0)")  # the head of the page stays where it is seen
    is_open = page.locator("dialog[open]").count() > 0
    picture(page, f"{scene.name}-{width}-{scheme}", full_page=not is_open)
    return faults_of(window)
