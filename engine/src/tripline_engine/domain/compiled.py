"""How functions over arrays are compiled.

What is compiled counts its references to each array, as Python does, wherever one is named or handed on: in a loop over
rows that is most of the work, as counts are shared between threads. A kernel counts none. Its arrays are its caller's,
who holds them meanwhile, and it may neither make any (what it needs as room it is given) nor return one.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from numba import njit

kernel: Final = partial(njit, cache=True, _nrt=False)
"""For all that runs once per row; takes numba's other options."""
