"""One browser and one running line for all tests of the console."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Playwright, expect, sync_playwright

from tests.browser import chromium
from tests.browser.support.signed_in import open_session
from tests.browser.traffic import Tripped, definition, published_rule, tripped_rule
from tests.browser.windows import Window
from tests.stack import RunningStack

OpenWindow = Callable[..., Window]

# A machine that runs the whole line beside the browser is not always quick.
expect.set_options(timeout=90_000)


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Playwright's driver process. It keeps an event loop in this thread: so it ends with these tests."""
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="package")
def chromium_or_why_not(playwright: Playwright) -> Iterator[Browser | str]:
    """A headless browser, or the reason why there is none."""
    path = chromium.find(playwright, os.environ)
    said = ""
    if path is None and os.environ.get("CI") == "true":
        said = chromium.install()
        path = chromium.find(playwright, os.environ)
    if path is None:
        yield f"no Chromium here; get it with: {chromium.HOW}\n{said}".strip()
        return
    browser = playwright.chromium.launch(executable_path=path, args=list(chromium.ARGUMENTS))
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium_or_why_not: Browser | str, request: pytest.FixtureRequest) -> Browser:
    """The browser. Without one the test is skipped by its name; on a build server (CI=true) it fails."""
    if isinstance(chromium_or_why_not, Browser):
        return chromium_or_why_not
    if os.environ.get("CI") == "true":
        pytest.fail(chromium_or_why_not)
    pytest.skip(f"{request.node.name}: {chromium_or_why_not}")


@pytest.fixture
def stack(browser: Browser, request: pytest.FixtureRequest) -> RunningStack:
    """The running line, once there is a browser to look at it: without one it is not started."""
    running: RunningStack = request.getfixturevalue("running_stack")
    return running


@pytest.fixture
def open_window(browser: Browser, stack: RunningStack) -> Iterator[OpenWindow]:
    """Opens windows of the console; `who` is the name of a key, None for nobody. Other options are playwright's."""
    contexts = []

    def open_(who: str | None = "analyst", **options: Any) -> Window:
        wanted: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", **options}
        context = browser.new_context(**wanted)
        context.set_default_timeout(90_000)
        contexts.append(context)
        window = Window(context.new_page(), stack.file["console"].rstrip("/"))
        if who is not None:
            open_session(context, window.base, stack.file["apiKeys"][who])
        return window

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture(scope="package")
def tripped_once(running_stack: RunningStack) -> Iterator[Tripped]:
    """A rule that tripped, for all tests."""
    with tripped_rule(running_stack) as tripped:
        yield tripped


@pytest.fixture
def tripped(stack: RunningStack, request: pytest.FixtureRequest) -> Tripped:
    """A rule that tripped and is paused now, and its alerts."""
    tripped: Tripped = request.getfixturevalue("tripped_once")
    return tripped


@pytest.fixture
def rule(stack: RunningStack) -> Iterator[dict[str, Any]]:
    """A rule to work on that nothing trips."""
    with published_rule(stack, definition("Work: a rule to change", limit=1_000_000)) as made:
        yield made
