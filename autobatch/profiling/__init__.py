"""What the machine did for a batch: ``ab.profile``, its tables, pictures and page."""

from autobatch.profiling.profile import BlockProfile, LineProfile, Profile, profile

__all__ = ["BlockProfile", "LineProfile", "Profile", "profile"]
