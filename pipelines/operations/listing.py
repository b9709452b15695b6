"""What the sources hold now, as one table; a source that cannot be listed is a fact about it, not an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.config.addresses import below
from pipelines.config.model import Config, Source
from pipelines.documents.formats import is_container, plain_name
from pipelines.errors import StorageError
from pipelines.observe import events
from pipelines.observe.events import ObjectSkipped, Sink, SourceListed, SourceUnreachable
from pipelines.planning import LISTING
from pipelines.storage.store import Page, Skipped, Store, open_source
from pipelines.table.keys import CONTAINER, FILE

LONGEST_ENDING = len(".parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """`table` as planning.LISTING; `completed` says of each configured source whether it was listed whole."""

    table: pa.Table
    completed: tuple[bool, ...]
    skipped: int
    bytes: tuple[int, ...]


def list_sources(config: Config, emit: Sink) -> Listing:
    """List every source. Objects inside the table's own folder are never documents."""
    tables: list[pa.Table] = []
    completed: list[bool] = []
    sizes: list[int] = []
    skipped: list[str] = []
    for index, source in enumerate(config.sources):
        pages: list[pa.Table] = [LISTING.empty_table()]

        def skip(path: str, reason: str, source: Source = source) -> None:
            skipped.append(path)
            emit(ObjectSkipped(source=source.path, path=path, reason=reason))

        found = 0
        try:
            for page in _pages(config, index, skip):
                pages.append(page)
                found += page.num_rows
                emit(events.Listing(source=source.path, documents=found))
        except (StorageError, OSError) as error:
            completed.append(False)
            emit(SourceUnreachable(source=source.path, message=str(error)))
        else:
            completed.append(True)
        table = pa.concat_tables(pages)
        sizes.append(pc.sum(table["size"]).as_py() or 0)
        tables.append(table)
        if completed[-1]:
            emit(SourceListed(source=source.path, documents=table.num_rows, bytes=sizes[-1]))
    return Listing(table=pa.concat_tables(tables), completed=tuple(completed), skipped=len(skipped), bytes=tuple(sizes))


def _pages(config: Config, index: int, skip: Skipped) -> Iterator[pa.Table]:
    """The documents of one source, a page of its listing at a time: a table takes a third of the objects' memory."""
    source = config.sources[index]
    store, name = open_source(source.path, config.storage.reveal())
    if name is not None:
        entry = store.stat(name)
        if entry is not None and source.selects(name):
            page = Page.new()
            page.add(entry)
            yield _table(page, index, source, store.child(""))
        return
    own = below(config.output.path, source.path)
    inside = None if own is None else own + "/" if own else ""
    everything = source.include == ("**",) and not source.exclude
    for page in store.list(skipped=skip):
        table = _table(page, index, source, store.child(""))
        if not everything:
            table = table.filter(pa.array([source.selects(path) for path in page.paths], pa.bool_()))
        if inside is not None:
            table = table.filter(pc.invert(pc.starts_with(table["path"], inside)))
        if table.num_rows:
            yield table


def listed_pages(config: Config, pages: Sequence[tuple[int, Store, Page]]) -> pa.Table:
    """Pages of entries of a source, each with the source's index and store, as planning.LISTING."""
    tables = [_table(page, index, config.sources[index], store.child("")) for index, store, page in pages]
    return pa.concat_tables([LISTING.empty_table(), *tables])


def _kinds(source: Source, paths: Sequence[str]) -> pa.Array:
    """What each object is. Names are asked once an ending: there may be millions of them."""
    if source.format != "auto" or source.extractor is not None:
        return pa.repeat(pa.scalar(CONTAINER if is_container(source, "") else FILE), len(paths))
    # (without a dot: its last letter, which is no container's ending)
    examples = {path[path.rfind(".", -LONGEST_ENDING) :]: path for path in paths}
    known = {ending: _kind(source, path) for ending, path in examples.items() if plain_name(path) == path}
    if len(known) == len(examples) and len(set(known.values())) == 1:
        return pa.repeat(pa.scalar(known.popitem()[1]), len(paths))
    found = [known.get(path[path.rfind(".", -LONGEST_ENDING) :]) or _kind(source, path) for path in paths]
    return pa.array(found, pa.string())


def _kind(source: Source, path: str) -> str:
    return CONTAINER if is_container(source, path) else FILE


def _table(page: Page, index: int, source: Source, address: str) -> pa.Table:
    """A page as planning.LISTING."""
    path = pa.array(page.paths, pa.string())
    values = {
        "source": pa.array(np.full(len(page.paths), index, np.int32)),
        "path": path,
        "uri": pc.binary_join_element_wise(address, path, ""),
        "size": pa.array(page.sizes, pa.int64()),
        "modified": pc.divide(pa.array(page.modified, pa.int64()), 1000).cast(pa.timestamp("us", "UTC")),
        "validator": pa.array(page.validators, pa.string()),
        "kind": _kinds(source, page.paths),
    }
    return pa.table([values[name] for name in LISTING.names], schema=LISTING)
