"""Forms in dialogs: opened by a button, filled in by their labels, sent by another button."""

from __future__ import annotations

import re
from collections.abc import Mapping

from playwright.sync_api import Locator, Page

CHOOSE = "SELECT"


def opened(page: Page, press: str | Locator, title: str | re.Pattern[str]) -> Locator:
    """The dialog of that title, which comes when the button is pressed; a button may be named by its text."""
    button = page.get_by_role("button", name=press) if isinstance(press, str) else press
    button.click()
    return page.get_by_role("dialog", name=title)


def fill(form: Locator, fields: Mapping[str, str]) -> None:
    """Each field by its label: typed, or chosen by value where it is a list to choose from."""
    for label, value in fields.items():
        field = form.get_by_label(label)
        if field.evaluate("field => field.tagName") == CHOOSE:
            field.select_option(value)
        else:
            field.fill(value)


def send(form: Locator, button: str, fields: Mapping[str, str] | None = None) -> None:
    """Fills them in, and presses the form's button."""
    fill(form, fields or {})
    form.get_by_role("button", name=button).click()
