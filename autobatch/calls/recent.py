"""A cache that forgets what was used longest ago, and says so."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from autobatch.errors import CacheWarning

MOST = 256

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """At most ``most`` values; ``told(value)`` names one that is dropped, for a ``CacheWarning``.

    frames: how far above ``put`` the user's call mostly is.
    """

    def __init__(self, told: Callable[[V], str], frames: int, most: int = MOST):
        self._values: OrderedDict[K, V] = OrderedDict()
        self._told, self._frames, self._most = told, frames, most

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> V:
        self._values[key] = value
        if len(self._values) > self._most:
            _, dropped = self._values.popitem(last=False)
            warnings.warn(
                f"More than {self._most} are kept of what was compiled: {self._told(dropped)} was dropped, and is "
                "compiled again when it is used again.",
                CacheWarning,
                stacklevel=self._frames,
            )
        return value
