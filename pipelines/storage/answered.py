"""What an object store answers when it does not do what was asked."""

from __future__ import annotations

from collections.abc import Callable

from pipelines.storage.client import Changed, ShortBody


class Answered(Exception):
    """An answer other than success. `status` is HTTP's; the reason is one line of the store's own words."""

    def __init__(self, status: int, reason: str) -> None:
        line = reason.strip().partition("\n")[0]
        super().__init__(f"{status} {line[:300]}".strip())
        self.status = status


def unchanged(size: int, read: Callable[[], bytes]) -> bytes:
    """What `read` gives, `size` bytes of an object that must be the one it was when it was opened.

    Raises Changed where the store says that it is not (412), ShortBody for another number of bytes.
    """
    try:
        data = read()
    except Answered as error:
        if error.status == 412:
            raise Changed from error
        raise
    if len(data) != size:
        raise ShortBody(len(data), size)
    return data


def reason_of(error: Exception) -> str:
    """What went wrong with a request, in one line; of an answer its status, code and message, of whatever library."""
    if isinstance(error, Answered):
        return str(error)
    response = getattr(error, "response", None)
    if isinstance(response, dict) and "Error" in response:  # botocore, which tells of its retries instead
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", "")
        code, message = (str(response["Error"].get(name) or "") for name in ("Code", "Message"))
        said = f"{code}: {message}" if code not in ("", str(status), message) and message else message or code
        return f"{status} {said}".strip()
    return f"{type(error).__name__}: {error}"
