"""Pictures of pages, for who looks at them: a run that nobody looks at takes none."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Page

VARIABLE = "TRIPLINE_SCREENSHOTS"
"""Names the folder that they go to."""


def picture(page: Page, name: str, *, full_page: bool = False) -> None:
    """`name`.png of what the window shows, or of the whole page."""
    if VARIABLE in os.environ:
        path = Path(os.environ[VARIABLE]) / f"{name}.png"
        page.screenshot(path=path, full_page=full_page, animations="disabled" if full_page else None)
