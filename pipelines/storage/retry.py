"""Which failures of a request are worth another try, and how often and how long it is tried."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pipelines.storage.client import ShortBody

_Out = TypeVar("_Out")

_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_CODES = frozenset({"SlowDown", "ServerBusy", "RequestTimeout", "InternalError", "OperationTimedOut", "Throttling"})
_DROPPED = frozenset(
    {
        "HTTPClientError",  # botocore: timeouts, dropped and refused connections
        "IncompleteReadError",
        "ResponseStreamingError",
        "ClientConnectionError",  # aiohttp
        "ClientPayloadError",
        "ServiceRequestError",  # azure
        "ServiceResponseError",
        "IncompleteRead",
        "FSTimeoutError",
        "TransportError",  # google.auth
        "ConnectionError",  # also requests' and the builtin
    }
)
"""Base classes of the errors by which libraries say that no whole answer came. By name: most are not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """At most `tries` requests, and none begun more than `seconds` after the first.

    Between two of them a random wait of 0 to `first` seconds, doubled each time, never more than `most` ("full
    jitter": many workers refused at once do not come back at once).
    """

    tries: int = 8
    seconds: float = 60.0
    first: float = 0.2
    most: float = 10.0

    def call(self, request: Callable[[], _Out]) -> _Out:
        """What `request` gives. Raises its last error when that cannot heal by itself or time is over."""
        began = time.monotonic()
        for number in range(1, self.tries + 1):
            try:
                return request()
            except Exception as error:
                if number == self.tries or not is_transient(error):
                    raise
                wait = random.uniform(0.0, min(self.first * 2 ** (number - 1), self.most))
                if time.monotonic() + wait - began > self.seconds:
                    raise
                time.sleep(wait)
        raise AssertionError("a loop without a try")


def is_transient(error: BaseException | None) -> bool:
    """Whether the same request may do better in a moment: overload, a server's own fault, no whole answer."""
    while error is not None:
        if isinstance(error, ShortBody | TimeoutError | ConnectionError):
            return True
        status, code = _status(error), _code(error)
        if status is not None or code:
            return status in _STATUSES or code in _CODES
        if any(base.__name__ in _DROPPED for base in type(error).__mro__):
            return True
        error = error.__cause__
    return False


def _status(error: BaseException) -> int | None:
    """The HTTP status, wherever botocore, gcsfs, azure and aiohttp keep it."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return status if isinstance(status, int) else None
    for name in ("status_code", "status", "code"):
        value = getattr(error, name, None)
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if isinstance(value, int) and 100 <= value < 600:
            return value
    return None


def _code(error: BaseException) -> str:
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        return str(response.get("Error", {}).get("Code", ""))
    return str(getattr(error, "error_code", None) or "")
