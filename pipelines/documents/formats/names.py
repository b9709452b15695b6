"""Which format an object has. The only place that looks at names."""

from __future__ import annotations

from pipelines.config.model import Source

COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zstd")
_BY_NAME = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
_ENDINGS = tuple(_BY_NAME)
_PLACES = {"jsonl": "line {}", "csv": "row {}", "tsv": "row {}", "parquet": "row {}"}


def format_of(source: Source, path: str) -> str:
    """`text` (one document a file), or the format of a container: jsonl, csv, tsv, parquet, records."""
    if source.extractor is not None:
        return "text"
    if source.format != "auto":
        return source.format
    name = plain_name(path).lower()
    return _BY_NAME[name[name.rindex(".") :]] if name.endswith(_ENDINGS) else "text"


def is_container(source: Source, path: str) -> bool:
    """Whether the object at `path` holds records."""
    return format_of(source, path) != "text"


def plain_name(path: str) -> str:
    """`path` without an ending that says it is compressed: `a.md` of `a.md.gz`."""
    if path.lower().endswith(COMPRESSED):
        return path[: path.rindex(".")]
    return path


def place_of(format_: str, position: int) -> str:
    """How people find a record: `line 3` and `row 3` count from 1 (a header is no row), `index 3` from 0."""
    return _PLACES[format_].format(position + 1) if format_ in _PLACES else f"index {position}"
