"""Known vulnerabilities of the pinned jars, from OSV (https://osv.dev): `python -m
tripline_demo.supply_chain.vulnerabilities`.

Python packages are pip-audit's, which asks the index or OSV itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Final

import httpx

from tripline_demo import paths
from tripline_demo.errors import DemoError
from tripline_demo.supply_chain import jar_files

SERVICE: Final = "https://api.osv.dev"
SECONDS: Final = 30.0
FOUND: Final = 1
NOT_ASKED: Final = 2


def known(purls: Sequence[str], client: httpx.Client) -> dict[str, list[str]]:
    """Ids of vulnerabilities by package URL, of those that have any.

    Raises DemoError where the service does not answer, or with something else than one result for each: no answer is
    not "none known".
    """
    queries = [{"package": {"purl": purl}} for purl in purls]
    try:
        answer = client.post("/v1/querybatch", json={"queries": queries}).raise_for_status().json()
        results = answer["results"]
        vulnerable = {
            purl: sorted(str(one["id"]) for one in result.get("vulns", []))
            for purl, result in zip(purls, results, strict=True)
        }
    except (httpx.HTTPError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DemoError(
            f"{client.base_url} gave no answer about the jars: {type(error).__name__}: {error}."
        ) from error
    return {purl: ids for purl, ids in vulnerable.items() if ids}


def main(environ: Mapping[str, str], client: httpx.Client | None = None) -> int:
    """Lists what is known; 0 for nothing, FOUND, or NOT_ASKED."""
    root, var = paths.project_root(), paths.var_folder(environ)
    try:
        jars = jar_files.components(root / "jars.sha256", var / "ivy")
        purls = sorted({str(jar.purl) for jar in jars})
        with client or httpx.Client(base_url=SERVICE, timeout=SECONDS) as asked:
            vulnerable = known(purls, asked)
    except DemoError as error:
        print(error, file=sys.stderr)
        return NOT_ASKED
    for purl, ids in vulnerable.items():
        print(f"{purl}: {', '.join(ids)}")
    print(f"{len(purls)} jars, {len(vulnerable)} with known vulnerabilities")
    return FOUND if vulnerable else 0


if __name__ == "__main__":
    sys.exit(main(os.environ))
