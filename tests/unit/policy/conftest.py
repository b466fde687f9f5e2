"""Property tests of this folder have no deadline: on a busy machine one would fail for nothing."""

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
