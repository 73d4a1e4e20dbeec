"""The bill of materials in CycloneDX 1.6: `python -m tripline_demo.supply_chain.bill FILE`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6

from tripline_demo import paths
from tripline_demo.errors import DemoError
from tripline_demo.supply_chain import jar_files, python_packages

USAGE = 2


def bill_of(root: Path, var: Path) -> Bom:
    """Every package of requirements.lock and every jar of jars.sha256. Raises DemoError."""
    packages = python_packages.components(root / "requirements.lock")
    jars = jar_files.components(root / "jars.sha256", var / "ivy")
    ours = Component(name="tripline", type=ComponentType.APPLICATION, bom_ref="tripline")
    bill = Bom(components=[*packages, *jars], metadata=BomMetaData(component=ours))
    bill.register_dependency(ours, bill.components)
    return bill


def main(arguments: list[str], environ: Mapping[str, str]) -> int:
    """Writes the bill; the exit code."""
    if len(arguments) != 1:
        print("usage: bill FILE", file=sys.stderr)
        return USAGE
    try:
        bill = bill_of(paths.project_root(), paths.var_folder(environ))
    except DemoError as error:
        print(error, file=sys.stderr)
        return 1
    target = Path(arguments[0])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(JsonV1Dot6(bill).output_as_string(indent=2) + "\n", encoding="utf-8")
    unlicensed = sum(not component.licenses for component in bill.components)
    print(f"{target}: {len(bill.components)} components, {unlicensed} of them without a declared licence")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
