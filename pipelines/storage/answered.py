"""What an object store answers when it does not do what was asked."""

from __future__ import annotations


class Answered(Exception):
    """An answer other than success. `status` is HTTP's; the reason is one line of the store's own words."""

    def __init__(self, status: int, reason: str) -> None:
        line = reason.strip().partition("\n")[0]
        super().__init__(f"{status} {line[:300]}".strip())
        self.status = status
