"""Times as storage systems write them."""

from __future__ import annotations

import datetime
from typing import Any

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def nanoseconds(when: Any) -> int | None:
    """UTC nanoseconds of a datetime, ISO text or seconds since 1970; None for anything else. No zone means UTC."""
    if isinstance(when, int | float):
        return int(when * 1_000_000_000)
    if isinstance(when, str):
        try:
            when = datetime.datetime.fromisoformat(when)
        except ValueError:
            return None
    if not isinstance(when, datetime.datetime):
        return None
    aware = when if when.tzinfo is not None else when.replace(tzinfo=datetime.UTC)
    return (aware - _EPOCH) // datetime.timedelta(microseconds=1) * 1000
