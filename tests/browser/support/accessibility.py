"""What axe finds wrong with a page for who cannot see it well, or uses no mouse."""

from __future__ import annotations

from typing import Final

from axe_playwright_python.sync_playwright import Axe

from tests.browser.windows import Window

_AXE: Final = Axe()


def serious_faults(window: Window) -> list[str]:
    """The faults that axe calls serious or critical, each with the elements that have it."""
    answer = _AXE.run(window.page).response
    return [
        f"{fault['id']}: {fault['help']}: {[node['html'][:120] for node in fault['nodes'][:5]]}"
        for fault in answer["violations"]
        if fault["impact"] in ("serious", "critical")
    ]
