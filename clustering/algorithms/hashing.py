"""Spread the bits of 64-bit numbers, in arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every bit over all others, as the finaliser of splitmix64 does; one to one."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
