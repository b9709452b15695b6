"""One object at an address, for what is neither a source nor a table: a configuration, a list."""

from __future__ import annotations

from pipelines.errors import StorageError
from pipelines.storage.store import Options, open_store


def is_address(text: str) -> bool:
    """Whether `text` is an address (`s3://…`), and no local path."""
    return "://" in text


def read_object(address: str, storage: Options | None = None) -> bytes:
    """Its content, reached with `storage` as far as that knows the protocol. OSError that says what is wrong."""
    folder, _, name = address.rpartition("/")
    try:
        return open_store(folder, storage).read(name)
    except FileNotFoundError:
        raise OSError("there is no such object") from None
    except StorageError as error:
        raise OSError(str(error).removeprefix(f"{error.address}: ").removeprefix("cannot be read: ")) from None
