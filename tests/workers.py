"""Which worker of pytest-xdist has which tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xdist.scheduler import LoadScopeScheduling

LONG = {"test_against_oracle", "test_pruning"}
"""Files whose tests share nothing and take minutes together: they go to workers one by one."""


ON_SHARED_LINES = {
    "test_stack",
    "test_line",
    "test_export",
    "test_readme_tour",
    "test_card_authorisations",
    "test_kinds_of_event",
    "test_stack_ended",
    "test_guard",
    "test_life_of_a_rule",
    "test_entries_of_lists",
    "test_proof",
    "test_why_not",
    "test_backtests",
}
"""Files, besides those of the browser, whose tests look at a whole line."""


WITH_SERVERS = 2
"""So many workers take tests with servers: on two cores more would let each other wait beyond their deadlines."""


class ServersApart(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """The tests of contracts, of the registry, of other services, of engines, and of whole lines stay together, each
    kind on one worker; what needs no server goes file by file to whoever is free: each test finds its servers, and what
    its file keeps for all its tests, where the one before has left it. A third worker begins with those that need none,
    while the other two wait for servers."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, _ = nodeid.partition("::")
        match Path(file).parts[1:]:
            case ("e2e", *_) | ("integration", "stack", *_) if Path(file).stem in ON_SHARED_LINES:
                return "lines"
            case "unit", *_:
                return nodeid if Path(file).stem in LONG else file
            case "contract", *_:
                return "contracts"
            case "integration", "registry", *_:
                return "registry"
            case "integration", *_:
                return "services"
            case "browser", *_:
                return "lines"
            case _:
                return "engines"

    def _assign_work_unit(self, node: Any) -> None:
        if node in self.nodes[WITH_SERVERS:]:
            without = next((scope for scope in self.workqueue if is_unit(scope)), None)
            if without is None:
                node.shutdown()
                return
            self.workqueue.move_to_end(without, last=False)
        super()._assign_work_unit(node)


def is_unit(nodeid: str) -> bool:
    """Whether a test, or a scope of tests, needs no server."""
    return nodeid.startswith("tests/unit/")
