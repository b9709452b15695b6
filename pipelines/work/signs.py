"""Signs of life of a run that nobody waits for: its workers renew its claim as they take up work."""

from __future__ import annotations

import time

from pipelines.table.claims import REFRESH_SECONDS, leave_claim
from pipelines.work.job import Job


class SignsOfLife:
    """Those of one step in one process; no more often than the claim of any other run is refreshed."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._next = 0.0

    def give(self) -> None:
        """Work is taken up. Never raises for what is wrong with the store."""
        if self._job.unattended and time.monotonic() >= self._next:
            leave_claim(self._job.table(), self._job.run_id)
            self._next = time.monotonic() + REFRESH_SECONDS
