"""The figures of what a payment weighs can be made."""

from __future__ import annotations

import re

from click.testing import CliRunner

from bench.retained import main


def test_every_anchor_has_its_figures() -> None:
    found = CliRunner().invoke(main, ["--rate", "10", "--minutes", "3"])
    assert found.exit_code == 0, found.output
    for name in ("payeeId", "beneficiaryId", "global"):
        for where in ("memory", "state log"):
            assert re.search(rf"{name}, {where} \(\d+ held\) +\d+\.\d +\d+\.\d +\d\.\d\d", found.output)
