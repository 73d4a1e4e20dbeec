"""What a program can find wrong with how a page looks."""

from __future__ import annotations

import re
from typing import Final

from tests.browser.support.accessibility import serious_faults
from tests.browser.windows import Window

_SIDEWAYS: Final = """() => [document.documentElement, ...document.querySelectorAll("dialog[open]")]
    .filter((node) => node.scrollWidth > node.clientWidth + 1)
    .map((node) => `${node.tagName} scrolls sideways: ${node.scrollWidth} px on ${node.clientWidth}`)"""
# Text that is wider than what it stands in, where that cannot be scrolled and has no dots at its end.
_CUT: Final = """() => [...document.querySelectorAll("button, label, th, td, h1, h2, h3, p, li, dd, dt, a, span")]
    .filter((node) => node.checkVisibility() && node.clientWidth > 1 && node.scrollWidth > node.clientWidth + 1)
    .filter((node) => {
        const style = getComputedStyle(node);
        return style.overflowX === "hidden" && style.textOverflow !== "ellipsis" && !node.matches(".unseen");
    })
    .map((node) => `cut: ${node.outerHTML.slice(0, 100)}`)"""
_BESIDE_ITS_HEAD: Final = """() => [...document.querySelectorAll("table")].filter((table) => table.checkVisibility())
    .flatMap((table) => [...table.querySelectorAll("thead th")].flatMap((head) => {
        const cell = table.querySelector(`tbody tr > :nth-child(${head.cellIndex + 1})`);
        if (!cell || !cell.checkVisibility() || !head.checkVisibility()) return [];
        const [one, other] = [head, cell].map((node) => getComputedStyle(node).textAlign.replace("-webkit-", ""));
        const [plain, last] = [one, other].map((align) => align === "right" || align === "end");
        return plain === last ? [] : [`the head “${head.textContent}” stands ${one}, its cells ${other}`];
    }))"""
_UNSAID: Final = re.compile(r"answered 4\d\d")


def faults_of(window: Window) -> list[str]:
    """In words. Answers that refuse something are what some scenes show."""
    page = window.page
    drawn = [fault for look in (_SIDEWAYS, _CUT, _BESIDE_ITS_HEAD) for fault in page.evaluate(look)]
    troubles = [trouble for trouble in window.troubles if not _UNSAID.fullmatch(trouble)]
    return [*drawn, *serious_faults(window), *window.violations(), *troubles]
