"""A list of changed objects, from an event queue or an inventory, instead of a listing of the sources.

One object a line: its address and `upsert` or `delete`, as JSON (`{"uri": …, "action": …}`) or separated by a TAB or by
the line's last comma. The last action of an address counts. What is not in the list stays as it is.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TextIO

import pyarrow.compute as pc

from pipelines.config.addresses import below
from pipelines.config.model import Config
from pipelines.errors import UsageError
from pipelines.observe.events import ObjectSkipped, Sink
from pipelines.operations.listing import Listing, listed_pages
from pipelines.planning import StateSlice
from pipelines.storage.single import is_address, read_object
from pipelines.storage.store import Entry, Options, Page, Store, open_source

ACTIONS = ("upsert", "delete")


def read_objects(file: str, storage: Options | None = None) -> dict[str, str]:
    """Addresses and what to do with each. Raises UsageError that names the line.

    `file` is a local path or an address, which is reached with the `storage` options of a configuration.
    """
    found: dict[str, str] = {}
    try:
        with _open(file, storage) as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                uri, action = _parsed(line.strip(), f"{file}:{number}")
                found.pop(uri, None)
                found[uri] = action
    except (OSError, UnicodeError) as error:
        why = (isinstance(error, OSError) and error.strerror) or error
        raise UsageError(f"{file}: cannot be read: {why}") from error
    return found


def _open(file: str, storage: Options | None) -> TextIO:
    if is_address(file):
        return io.StringIO(read_object(file, storage).decode("utf-8-sig"), newline="\n")
    return open(file, encoding="utf-8-sig", newline="\n")


def _parsed(line: str, where: str) -> tuple[str, str]:
    if line.startswith("{"):
        try:
            values = json.loads(line)
        except ValueError as error:
            raise UsageError(f"{where}: not JSON: {error}") from None
        uri, action = values.get("uri"), values.get("action")
    else:
        uri, _, action = line.rpartition("\t" if "\t" in line else ",")
        uri, action = uri.strip().strip('"'), action.strip()
    if not isinstance(uri, str) or not uri or "\0" in uri:
        raise UsageError(f'{where}: has no address; write {{"uri": "…", "action": "upsert"}} or address, TAB, action')
    if action not in ACTIONS:
        raise UsageError(f"{where}: the action is {action!r}; allowed: {', '.join(ACTIONS)}")
    return uri, action


def list_objects(config: Config, file: str, emit: Sink) -> tuple[Listing, Mapping[str, set[str]]]:
    """The objects to read, as a listing of sources that are not listed whole, and the paths by source that are gone.

    An object that no source takes is told to `emit`. A missing one is listed nevertheless (see `without_unknown`):
    reading it will fail, and what the table has of it stays.
    """
    objects = read_objects(file, config.storage.reveal())
    places = [_Place(config, index) for index in range(len(config.sources))]
    pages = [Page.new() for _ in places]
    deleted: dict[str, set[str]] = {}
    skipped = 0
    for uri, action in objects.items():
        owners = [(place, path) for place in places if (path := place.path_of(uri)) is not None]
        if not owners:
            skipped += 1
            emit(ObjectSkipped(source="objects", path=uri, reason="no source takes it"))
        for place, path in owners:
            if action == "delete":
                deleted.setdefault(config.sources[place.index].path, set()).add(path)
            else:
                pages[place.index].add(place.store.stat(path) or Entry(path, 0, None, None))
    table = listed_pages(config, [(place.index, place.store, page) for place, page in zip(places, pages, strict=True)])
    sizes = [0] * len(places)
    for row in table.group_by("source", use_threads=False).aggregate([("size", "sum")]).to_pylist():
        sizes[row["source"]] = row["size_sum"] or 0
    listing = Listing(table=table, completed=(False,) * len(places), skipped=skipped, bytes=tuple(sizes))
    return listing, deleted


def without_unknown(listing: Listing, states: Sequence[StateSlice], emit: Sink) -> Listing:
    """`listing` without missing objects that the table has nothing of: they are no documents, and take no id."""
    table = listing.table
    here = pc.or_(pc.is_valid(table["modified"]), pc.or_(pc.is_valid(table["validator"]), pc.greater(table["size"], 0)))
    for each in states:
        here = pc.or_(here, pc.is_in(table["uri"], value_set=each.rows["uri"].combine_chunks()))
    for uri in table.filter(pc.invert(here))["uri"].to_pylist():
        emit(ObjectSkipped(source="objects", path=uri, reason="it does not exist, and the table has nothing of it"))
    kept = table.filter(here)
    return replace(listing, table=kept, skipped=listing.skipped + table.num_rows - kept.num_rows)


class _Place:
    """Where the objects of a source are."""

    def __init__(self, config: Config, index: int) -> None:
        self.index = index
        self._source = config.sources[index]
        self.store: Store
        self.store, self._only = open_source(self._source.path, config.storage.reveal())
        self._table = config.output.path

    def path_of(self, uri: str) -> str | None:
        """The path of an object below the source's root, None if it is none of its documents."""
        path = self._path(uri)
        if not path or below(uri, self._table) is not None or not self._source.selects(path):
            return None
        return path if self._only in (None, path) else None

    def _path(self, uri: str) -> str | None:
        if uri.startswith(root := self.store.child("")):
            return uri[len(root) :]
        folder, _, name = uri.rpartition("/")
        inner = below(folder or ".", self.store.address)
        return None if inner is None else f"{inner}/{name}" if inner else name
