"""Addresses in a configuration: `${NAME}` expansion, credentials refused, and whether one lies inside another.

Relative paths are relative to the working directory, as on any command line.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$(?:\$(?=\{)|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}|(?P<broken>\{[^}]*\}?))")
_PROTOCOL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_CREDENTIALS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/@]*:[^/]*@")

_SAME_PROTOCOL = {"s3a": "s3", "gcs": "gs", "abfs": "az", "abfss": "az", "adl": "az", "local": "file"}


class AddressError(ValueError):
    """An address that cannot be used. The message is a predicate: `names the variable X, which is not set`."""


def expand(address: str, environment: Mapping[str, str]) -> str:
    """`address` with each `${NAME}` replaced; `$${` stands for a literal `${`. Raises AddressError."""

    def replace(found: re.Match[str]) -> str:
        if found["broken"] is not None:
            raise AddressError(f"has {'$' + found['broken']!r}; write ${{NAME}}, or $${{ for a literal ${{")
        if found["name"] is None:
            return "$"
        value = environment.get(found["name"])
        if not value:
            state = "not set" if value is None else "empty"
            raise AddressError(f"names the environment variable {found['name']}, which is {state}")
        return value

    expanded = _VARIABLE.sub(replace, address)
    if _CREDENTIALS.match(expanded):
        # Addresses are logged and stored in every row: a password must not be in one. It is not quoted here either.
        raise AddressError("has a password in it; credentials belong to the environment or the section 'storage'")
    if expanded.startswith("~"):
        raise AddressError("starts with '~', which only a shell expands; write ${HOME}, or ./~ for that name")
    return expanded


def protocol_of(address: str) -> str:
    """`s3` of `s3://bucket/docs`, `file` of a local path."""
    found = _PROTOCOL.match(address)
    return found[1] if found else "file"


def below(address: str, folder: str) -> str | None:
    """The path of `address` below `folder`: "" when they are the same place, None when it lies elsewhere."""
    inner, outer = _canonical(address), _canonical(folder)
    if inner == outer:
        return ""
    prefix = outer if outer.endswith("/") else outer + "/"  # it does for the root of a disk
    return inner[len(prefix) :] if inner.startswith(prefix) else None


def _canonical(address: str) -> str:
    """Comparable: one protocol name, no trailing slash; local paths absolute with symbolic links resolved."""
    protocol = protocol_of(address).lower()
    protocol = _SAME_PROTOCOL.get(protocol, protocol)
    found = _PROTOCOL.match(address)
    path = address[found.end() :] if found else address
    if protocol == "file":
        return "file://" + os.path.realpath(path)
    if protocol == "memory":
        path = path.lstrip("/")
    return f"{protocol}://{posixpath.join(path, '').rstrip('/')}"
