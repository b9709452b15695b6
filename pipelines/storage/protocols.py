"""Which stores there are, by the protocol of an address, and what each takes to be reached."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib.util import find_spec

BUCKETS: Mapping[str, str] = {
    **dict.fromkeys(("s3", "s3a"), "s3.S3Client"),
    **dict.fromkeys(("gs", "gcs"), "gcs.GcsClient"),
    **dict.fromkeys(("az", "abfs", "abfss"), "azure.AzureClient"),
}
"""The client of each protocol whose stores can create exclusively: module and class in this folder."""

LOCAL = ("file", "local", "memory")
"""Protocols that need no package."""

_PACKAGES = {"s3": "s3fs", "gcs": "gcsfs", "azure": "adlfs"}
"""What each module of clients gets its connection from; the extra that brings it has the module's name."""


def missing(protocol: str) -> str | None:
    """Why no store of a protocol can be reached here, as a predicate; None where nothing is in the way.

    Nothing is connected to. Costs the import of fsspec for protocols that are neither on this machine nor of `BUCKETS`.
    """
    if protocol in LOCAL:
        return None
    if protocol in BUCKETS:
        module = BUCKETS[protocol].partition(".")[0]
        package = _PACKAGES[module]
        return None if find_spec(package) else f"needs the package {package}: {install(module)}"
    import fsspec

    known = [*LOCAL, *BUCKETS, *fsspec.available_protocols()]
    try:
        fsspec.get_filesystem_class(protocol)
    except ImportError as error:
        return f"needs a package that is missing: {error}"
    except ValueError:
        near = difflib.get_close_matches(protocol.lower(), known, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}://?" if near else "; object stores are s3, gs and az"
        return f"is on {protocol}://, which is the protocol of no store{hint}"
    return None


def install(module: str) -> str:
    """The command that brings what a module of clients needs."""
    return f"pip install 'rechunk[{module}]'"


def holds_tables(protocol: str) -> bool:
    """Whether the stores of a protocol can create exclusively, without which no table is kept."""
    return protocol in LOCAL or protocol in BUCKETS
