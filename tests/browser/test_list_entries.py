"""Entries of a list are found, added until a time, and removed, one by one."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenWindow
from tests.browser.support.forms import opened, send
from tests.browser.support.lists import list_row, put_list
from tests.stack import RunningStack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]


def entries_of(page: Page, name: str) -> Locator:
    """The dialog with the entries of a list, opened."""
    button = list_row(page, name).get_by_role("button", name=f"Entries: {name}")
    return opened(page, button, f"Entries of the list {name}")


def add(dialog: Locator, values: str, until: str) -> None:
    form = dialog.get_by_role("form", name="Add entries")
    send(form, "Add", {"Add, one on each line": values, "Until": until})


def kept(stack: RunningStack, name: str) -> dict[str, int | None]:
    with stack.registry() as registry:
        items = registry.get(f"/v1/lists/{name}/entries", params={"limit": 100}).json()["items"]
    return {item["value"]: item["until"] for item in items}


def test_entries_are_paged_and_found_by_how_they_begin(open_window: OpenWindow, stack: RunningStack) -> None:
    put_list(stack, "entries-many", *(f"card-{number:03}" for number in range(120)), "mallory")
    window = open_window("analyst")
    page = window.page
    window.go("/lists")
    dialog = entries_of(page, "entries-many")
    entries = dialog.get_by_role("list", name="Entries").get_by_role("listitem")
    expect(entries).to_have_count(50)
    expect(dialog.get_by_role("status")).to_have_text("50 entries, and more")
    dialog.get_by_role("button", name="More").click()
    expect(entries).to_have_count(100)
    dialog.get_by_role("button", name="More").click()
    expect(entries).to_have_count(121)
    expect(dialog.get_by_role("button", name="More")).to_be_hidden()
    dialog.get_by_label("Begins with").fill("card-11")
    expect(entries).to_have_count(10)
    dialog.get_by_label("Begins with").fill("Card")
    expect(dialog.get_by_role("status")).to_have_text("No entry begins so.")
    window.is_clean()


def test_an_entry_is_added_until_a_time_and_another_removed(
    open_window: OpenWindow, stack: RunningStack
) -> None:
    put_list(stack, "entries-few", "25", "mallory")
    window = open_window("analyst")
    page = window.page
    window.go("/lists")
    dialog = entries_of(page, "entries-few")
    add(dialog, " eve \n\ntrent\n", "2096-10-02T07:06:40")
    entries = dialog.get_by_role("list", name="Entries").get_by_role("listitem")
    expect(entries).to_have_count(4)
    expect(entries.filter(has_text="eve")).to_contain_text("until")
    expect(list_row(page, "entries-few")).to_contain_text("4 values")
    dialog.get_by_role("button", name="Remove: mallory").click()
    expect(entries).to_have_count(3)
    until = kept(stack, "entries-few")
    assert list(until) == ["25", "eve", "trent"]
    assert until["25"] is None
    at_most_a_day = abs((until["eve"] or 0) - datetime(2096, 10, 2, 7, 6, 40, tzinfo=UTC).timestamp() * 1000)
    assert at_most_a_day < 86_400_000
    window.is_clean()


def test_an_entry_goes_by_itself_and_what_has_passed_is_refused(
    open_window: OpenWindow, stack: RunningStack
) -> None:
    put_list(stack, "entries-ending", "25")
    window = open_window("analyst")
    page = window.page
    window.go("/lists")
    dialog = entries_of(page, "entries-ending")
    add(dialog, "eve", "2020-01-01T00:00:00")
    expect(dialog.get_by_role("alert")).to_have_text("That time has passed already.")
    page.keyboard.press("Escape")
    with stack.registry() as registry:
        ends = {"value": "eve", "until": time.time_ns() // 1_000_000 + 3_000}
        registry.post("/v1/lists/entries-ending/entries", json={"entries": [ends]}).raise_for_status()
    expect(list_row(page, "entries-ending")).to_contain_text("version 3, by rules-registry")
    expect(list_row(page, "entries-ending")).to_contain_text("1 value")
    window.is_clean()


def test_who_may_not_change_a_list_looks_at_its_entries(open_window: OpenWindow, stack: RunningStack) -> None:
    put_list(stack, "entries-seen", "25")
    window = open_window("viewer")
    page = window.page
    window.go("/lists")
    dialog = entries_of(page, "entries-seen")
    expect(dialog.get_by_role("list", name="Entries").get_by_role("listitem")).to_have_count(1)
    expect(dialog.get_by_role("button", name="Remove")).to_have_count(0)
    expect(dialog.get_by_label("Add, one on each line")).to_have_count(0)
    window.is_clean()


@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_the_window(open_window: OpenWindow, stack: RunningStack, width: int) -> None:
    put_list(stack, "entries-wide", *(f"{number} {'long ' * 12}".strip() for number in range(8)))
    window = open_window("analyst", viewport={"width": width, "height": 900})
    page = window.page
    window.go("/lists")
    dialog = entries_of(page, "entries-wide")
    expect(dialog.get_by_role("list", name="Entries").get_by_role("listitem")).to_have_count(8)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert dialog.evaluate("dialog => dialog.scrollWidth <= dialog.clientWidth")
    window.is_clean()
