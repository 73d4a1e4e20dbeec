"""One browser and one running line for all tests of the console."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Generator, Hashable, Iterator
from typing import Any, Final, Literal, TypeAlias, cast
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Playwright,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.browser import chromium
from tests.browser.support.signed_in import open_session
from tests.browser.traffic import Tripped, definition, published_rule, tripped_rule
from tests.browser.windows import Window
from tests.stack import RunningStack

OpenWindow = Callable[..., Window]

# A machine that runs the whole line beside the browser is not always quick.
expect.set_options(timeout=90_000)


# what moves is drawn by the processor that all of the line has to share; test_flood.py has it move
USUAL: Final = {"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", "reduced_motion": "reduce"}
Options: TypeAlias = "frozenset[tuple[str, Hashable]]"
HAS_FAILED: pytest.StashKey[bool] = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Whether it has failed is known to its fixtures."""
    report = yield
    if report.when == "call":
        item.stash[HAS_FAILED] = report.failed
    return report


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


@pytest.fixture(scope="package")
def free_contexts(playwright: Playwright) -> defaultdict[Options, list[BrowserContext]]:
    """Those that tests have done with: what a browser has of the console's files, it need not ask for again."""
    del playwright
    return defaultdict(list)


@pytest.fixture
def open_window(
    browser: Browser,
    stack: RunningStack,
    free_contexts: defaultdict[Options, list[BrowserContext]],
    request: pytest.FixtureRequest,
) -> Iterator[OpenWindow]:
    """Opens windows of the console; `who` is the name of a key, None for nobody. Other options are playwright's."""
    used: list[tuple[BrowserContext, Options]] = []

    def open_(
        who: str | None = "analyst",
        viewport: ViewportSize | None = None,
        color_scheme: Literal["dark", "light"] | None = None,
        **options: Hashable,
    ) -> Window:
        of_context = frozenset(options.items())
        if free_contexts[of_context]:
            context = free_contexts[of_context].pop()
        else:
            context = browser.new_context(**{**USUAL, **cast("dict[str, Any]", options)})
            context.set_default_timeout(90_000)
        used.append((context, of_context))
        page = context.new_page()
        if viewport is not None:
            page.set_viewport_size(viewport)
        if color_scheme is not None:
            page.emulate_media(color_scheme=color_scheme)
        window = Window(page, stack.file["console"].rstrip("/"))
        if who is not None:
            open_session(context, window.base, stack.file["apiKeys"][who])
        return window

    yield open_
    for context, of_context in used:
        for page in context.pages:
            if request.node.stash.get(HAS_FAILED, False):
                print(f"{page.url} showed:\n{page.locator('body').inner_text()}\n")
            # an answer that is on its way would be the failure of a test that comes later
            page.unroute_all(behavior="wait")
        if context in browser.contexts:
            as_new(context)
            free_contexts[of_context].append(context)


def as_new(context: BrowserContext) -> None:
    """Nobody is signed in and nothing is remembered, but for files."""
    for page in context.pages:
        context.new_cdp_session(page).send(
            "Storage.clearDataForOrigin", {"origin": origin_of(page.url), "storageTypes": "local_storage"}
        )
        page.close()
    context.clear_cookies()


def origin_of(url: str) -> str:
    return "{0.scheme}://{0.netloc}".format(urlsplit(url))


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
