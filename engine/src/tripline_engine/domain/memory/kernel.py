"""How functions over arrays are compiled.

What is compiled counts its references to each array, as Python does, wherever one is named or handed on: in a loop over
rows that is most of the work, as counts are shared between threads. A kernel counts none. Its arrays are its caller's,
who holds them meanwhile, and it may neither make any (what it needs as room it is given) nor return one.
"""

from __future__ import annotations

from functools import partial
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
from numba import njit

_Scalar = TypeVar("_Scalar", bound=np.generic)

kernel: Final = partial(njit, cache=True, _nrt=False)
"""For all that runs once per row; takes numba's other options."""


def read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """The same memory, not to be written through what is returned.

    A kernel is compiled once for arrays that may be written and once for those that may not, and what Arrow hands out
    is either, by how it came: made here, put together, or read from a message.
    """
    view = array.view()
    view.flags.writeable = False
    return view
