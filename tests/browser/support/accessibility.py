"""What axe finds wrong with a page for who cannot see it well, or uses no mouse."""

from __future__ import annotations

from typing import Final

from axe_playwright_python.sync_playwright import Axe

from tests.browser.windows import Window

_AXE: Final = Axe()


AT_REST: Final = (
    "Promise.all(document.getAnimations().map(animation => animation.finished.catch(() => null)))"
)
"""Resolves once no colour is on its way to another: half way there a button's contrast is neither theme's."""


def serious_faults(window: Window) -> list[str]:
    """The faults that axe calls serious or critical of a page at rest, each with the elements that have it."""
    window.page.evaluate(AT_REST)
    answer = _AXE.run(window.page).response
    return [
        f"{fault['id']}: {fault['help']}: {[node['html'][:120] for node in fault['nodes'][:5]]}"
        for fault in answer["violations"]
        if fault["impact"] in ("serious", "critical")
    ]
