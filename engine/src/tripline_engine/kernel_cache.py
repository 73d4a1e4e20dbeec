"""Where compiled kernels are kept: apart for each state of their source.

numba looks for a change in a kernel's own file only. A kernel that calls one in another file would go on with what
that was when it was compiled: wrong results after an upgrade, and nobody would be told. So the folder is named by all
files that have kernels.
"""

from __future__ import annotations

import os
import sys
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Final

_VARIABLE: Final = "NUMBA_CACHE_DIR"
_PREFIX: Final = "kernels-"


def use_own_cache(package: Path) -> Path:
    """Have numba keep the kernels below this folder in one named by their source; what is there of others goes.

    In a folder that ``NUMBA_CACHE_DIR`` names, else in the package's `__pycache__`. To be called before numba is
    imported: it reads the variable then.
    """
    given = Path(os.environ.get(_VARIABLE) or package / "__pycache__")
    if given.name.startswith(_PREFIX):
        given = given.parent  # from a process that started this one
    folder = given / f"{_PREFIX}{_digest(package)}"
    os.environ[_VARIABLE] = str(folder)
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(folder)
    if not folder.exists():
        for old in given.glob(f"{_PREFIX}*"):
            rmtree(old, ignore_errors=True)
    return folder


def _digest(package: Path) -> str:
    """The digest of all files that have kernels, by their paths below the package."""
    digest = sha256()
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if b"@kernel(" in source or b"njit" in source:
            digest.update(str(path.relative_to(package)).encode() + b"\0" + source)
    return digest.hexdigest()[:16]
