"""What the sources hold now, as one table; a source that cannot be listed is a fact about it, not an error."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from pipelines.config.addresses import below
from pipelines.config.model import Config, Source
from pipelines.errors import StorageError
from pipelines.observe.events import ObjectSkipped, Sink, SourceListed, SourceUnreachable
from pipelines.planning import LISTING
from pipelines.storage.store import Entry, open_source


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
        columns = _Columns(index)

        def skip(path: str, reason: str, source: Source = source) -> None:
            skipped.append(path)
            emit(ObjectSkipped(source=source.path, path=path, reason=reason))

        try:
            store, name = open_source(source.path, config.storage.reveal())
            columns.address = store.child("")
            if name is not None:
                entry = store.stat(name)
                columns.add(source, [] if entry is None else [entry], None)
            else:
                table_folder = below(config.output.path, source.path)
                for page in store.list(skipped=skip):
                    columns.add(source, page, table_folder)
        except (StorageError, OSError) as error:
            completed.append(False)
            emit(SourceUnreachable(source=source.path, message=str(error)))
        else:
            completed.append(True)
            emit(SourceListed(source=source.path, documents=len(columns.path), bytes=sum(columns.size)))
        sizes.append(sum(columns.size))
        tables.append(columns.table())
    return Listing(table=pa.concat_tables(tables), completed=tuple(completed), skipped=len(skipped), bytes=tuple(sizes))


class _Columns:
    """One source's listing under construction."""

    def __init__(self, index: int) -> None:
        self._index = index
        self.address = ""
        self.path: list[str] = []
        self.size: list[int] = []
        self.modified: list[int | None] = []
        self.validator: list[str | None] = []

    def add(self, source: Source, page: list[Entry], table_folder: str | None) -> None:
        """The entries of one page that are documents."""
        everything = source.include == ("**",) and not source.exclude
        chosen = page if everything else [entry for entry in page if source.selects(entry.path)]
        if table_folder is not None:
            inside = table_folder + "/" if table_folder else ""
            chosen = [entry for entry in chosen if not entry.path.startswith(inside)]
        self.path += [entry.path for entry in chosen]
        self.size += [entry.size for entry in chosen]
        self.modified += [None if entry.modified is None else entry.modified // 1000 for entry in chosen]
        self.validator += [entry.validator for entry in chosen]

    def table(self) -> pa.Table:
        """The rows, as planning.LISTING."""
        address = self.address
        values = {
            "source": pa.array([self._index] * len(self.path), pa.int32()),
            "path": pa.array(self.path, pa.string()),
            "uri": pa.array([address + path for path in self.path], pa.string()),
            "size": pa.array(self.size, pa.int64()),
            "modified": pa.array(self.modified, pa.timestamp("us", "UTC")),
            "validator": pa.array(self.validator, pa.string()),
        }
        return pa.table([values[name] for name in LISTING.names], schema=LISTING)
