"""autobatch: write a function for one example, run it on a whole batch."""

from autobatch import errors, random
from autobatch.api import Autobatched, Compiled, Lowered, autobatch, primitive
from autobatch.indexing import unroll
from autobatch.structs import struct

__all__ = ["Autobatched", "Compiled", "Lowered", "autobatch", "errors", "primitive", "random", "struct", "unroll"]
