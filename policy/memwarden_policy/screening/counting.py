"""From how many on a count worries: few, then many; and over what time it is counted."""

from typing import Final

SIMILAR: Final = (3, 8)
BURST: Final = (30, 120)
RECENT_HOURS: Final = 24
WINDOW_MINUTES: Final = 10
