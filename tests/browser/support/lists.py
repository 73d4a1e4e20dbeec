"""Lists on their page, and in the registry."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

from tests.stack import RunningStack


def list_row(page: Page, name: str) -> Locator:
    """The row of a list on its page."""
    lists = page.get_by_role("region", name="Lists", exact=True).get_by_role("listitem")
    return lists.filter(has_text=name)


def put_list(stack: RunningStack, name: str, *values: str, who: str = "analyst") -> None:
    """The list has these values from now on."""
    with stack.registry(who) as registry:
        registry.put(f"/v1/lists/{name}", json={"values": values}).raise_for_status()
