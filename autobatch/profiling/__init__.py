"""What the machine did for a batch: ``ab.profile``, its tables, pictures and page."""

from autobatch.profiling.measurement import BlockProfile, LineProfile
from autobatch.profiling.profile import Profile, profile

__all__ = ["BlockProfile", "LineProfile", "Profile", "profile"]
