"""Which stores there are, by the protocol of an address, and what each takes to be reached."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

BUCKETS: Mapping[str, str] = {
    **dict.fromkeys(("s3", "s3a"), "s3.S3Client"),
    **dict.fromkeys(("gs", "gcs"), "gcs.GcsClient"),
    **dict.fromkeys(("az", "abfs", "abfss"), "azure.AzureClient"),
}
"""The client of each protocol whose stores can create exclusively: module and class in this folder."""

CLIENTS = ("auto", "fsspec")
"""What `storage.<protocol>.client` may be: whatever is fastest, or fsspec's library for everything."""

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

    try:
        fsspec.get_filesystem_class(protocol)
    except ImportError as error:
        return f"needs a package that is missing: {error}"
    except ValueError:
        near = difflib.get_close_matches(protocol.lower(), [*LOCAL, *BUCKETS], n=1, cutoff=0.5)
        near = near or difflib.get_close_matches(protocol.lower(), fsspec.available_protocols(), n=1, cutoff=0.7)
        hint = f"; did you mean {near[0]}://?" if near else "; object stores are s3, gs and az"
        return f"is on {protocol}://, which is the protocol of no store{hint}"
    return None


def unknown_option(protocol: str, options: Mapping[str, Any]) -> tuple[str, str] | None:
    """An option of `storage.<protocol>` that nothing would read, and what there is, as a predicate; None if all do.

    Nothing is connected to. Costs the import of the library behind the protocol, which is looked into if it is one of
    `BUCKETS`; other filesystems may take anything.
    """
    if protocol not in BUCKETS:
        return None
    from pipelines.storage.client import UnknownOption

    if options.get("client", "auto") not in CLIENTS:
        return "client", f"must be one of {', '.join(CLIENTS)}"
    module, _, name = BUCKETS[protocol].partition(".")
    try:
        client = getattr(import_module(f"pipelines.storage.{module}"), name)
        client.check({name: value for name, value in options.items() if name != "client"})
    except UnknownOption as error:
        near = difflib.get_close_matches(error.name, sorted(error.allowed), n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        return error.name, f"is not an option of {error.library}{hint}; it has {', '.join(sorted(error.allowed))}"
    except ImportError:  # the address says what is missing
        return None
    return None


def install(module: str) -> str:
    """The command that brings what a module of clients needs."""
    return f"pip install 'rechunk[{module}]'"


def holds_tables(protocol: str) -> bool:
    """Whether the stores of a protocol can create exclusively, without which no table is kept."""
    return protocol in LOCAL or protocol in BUCKETS
