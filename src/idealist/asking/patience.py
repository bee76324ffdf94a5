"""When a request is sent again, and after how long: what a server's status and headers say."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime

#: Answers of a server that may be better next time, besides all from 500.
PASSING = (408, 409, 425, 429)
#: Seconds: the longest pause before a request is sent again, and the longest wait that a server may
#: ask for.
LONGEST_PAUSE, LONGEST_WAIT = 60.0, 600.0


def is_passing(status: int) -> bool:
    """Whether a server may answer next time.

    >>> is_passing(429), is_passing(503), is_passing(404)
    (True, True, False)
    """
    return status in PASSING or status >= 500


def pause_after(failures: int, first: float) -> float:
    """Draw a pause in seconds: random, and twice as long after each failure."""
    longest = min(LONGEST_PAUSE, first * 2 ** (failures - 1))
    return random.uniform(longest / 2, longest)


def retry_after(said: str) -> float:
    """Read how long a server wants us to wait: seconds, or a date.

    >>> retry_after("3"), retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), retry_after("soon")
    (3.0, 0.0, 0.0)
    """
    try:
        return max(0.0, min(float(said), 1e9))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, TypeError):
        return 0.0
