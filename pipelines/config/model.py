"""The configuration as frozen records. `load.py` makes them from YAML; tests and callers may build them directly.

Every default lives here. Byte sizes are whole bytes, percentages are 0-100.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pipelines.globs import Globs, compile_globs

MIB = 1024 * 1024
TASK_BYTES = 16 * MIB
EVERYTHING = ("**",)

Format = Literal["auto", "text", "jsonl", "csv", "tsv", "parquet", "records"]
FORMATS: tuple[str, ...] = ("auto", "text", "jsonl", "csv", "tsv", "parquet", "records")

DecodeErrors = Literal["strict", "replace"]
DECODE_ERRORS: tuple[str, ...] = ("strict", "replace")
MetadataValues = Literal["typed", "strings"]
METADATA_VALUES: tuple[str, ...] = ("typed", "strings")
SNAPSHOTS: tuple[str, ...] = ("folder",)
LOCAL_RUNNERS: tuple[str, ...] = ("DirectRunner", "FnApiRunner")
"""The runners that are this process and processes of its own; all others are Beam's to run."""


class Hidden(dict[str, Any]):
    """A dict, with its dicts, whose values never show in a repr, a log or a traceback: it may hold credentials."""

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        super().__init__(
            {key: Hidden(value) if isinstance(value, dict) else value for key, value in (values or {}).items()}
        )

    def __repr__(self) -> str:
        return repr({key: value if isinstance(value, Hidden) else "***" for key, value in self.items()})

    __str__ = __repr__

    def reveal(self) -> dict[str, Any]:
        """The same values in plain dicts, for the call that needs them."""
        return {key: value.reveal() if isinstance(value, Hidden) else value for key, value in self.items()}

    def __reduce__(self) -> tuple[type[Hidden], tuple[dict[str, Any]]]:
        return (Hidden, (dict(self),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How bytes become text. `encoding` None: detected per document."""

    encoding: str | None = None
    errors: DecodeErrors = "strict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What the columns (CSV, Parquet) or keys (JSON) of a record hold. Names are taken literally: no paths into values.

    `payload` maps a column to its declared type (`table.schemas.PAYLOAD_TYPES`).
    """

    id: str = "id"
    text: str = "text"
    title: str | None = None
    media_type: str | None = None
    metadata: tuple[str, ...] = ()
    payload: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractor:
    """A function from bytes to Markdown text, as `package.module:name`, and a version that changes when it does."""

    function: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One folder or object to read documents from. Globs match the path below `path` (docs/configuration.md)."""

    path: str
    include: tuple[str, ...] = EVERYTHING
    exclude: tuple[str, ...] = ()
    id_prefix: str = ""
    format: Format = "auto"
    columns: Columns = field(default_factory=Columns)
    decoding: Decoding = field(default_factory=Decoding)
    extractor: Extractor | None = None
    _included: Globs = field(init=False, repr=False, compare=False)
    _excluded: Globs = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_included", compile_globs(self.include))
        object.__setattr__(self, "_excluded", compile_globs(self.exclude))

    def selects(self, path: str) -> bool:
        """Whether the object at `path` below the source is one of its documents."""
        return self._included.matches(path) and not self._excluded.matches(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One strategy with all its options. `match` is a glob on document ids; None is the default rule."""

    strategy: str
    options: Mapping[str, Any] = field(default_factory=dict)
    match: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Which tokenizer fills `token_count`."""

    encoding_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where the table is, and how much input one shard takes."""

    path: str
    snapshot: Literal["folder"] = "folder"
    task_bytes: int = TASK_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one document may cost; over it, the document fails as a whole.

    `max_bytes` are bytes of a document, of one record, and of a container that cannot be split, decompressed. `work`
    counts steps of cutting (None: 1,000,000 and 200 a character); `seconds` is its backstop. `max_ratio` is how much
    larger than the object its decompressed content may be.
    """

    max_bytes: int = 512 * MIB
    max_chunks: int = 100_000
    work: int | None = None
    seconds: float = 60.0
    max_ratio: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Deletions are withheld when more than `documents` *and* more than `percent` of a source would vanish."""

    documents: int = 10
    percent: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Percentages of the listed documents; a gate trips *above* its limit. None: no such limit."""

    soft: float | None = None
    hard: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """Quality gates of a run: a soft one fails the command after publishing, a hard one publishes nothing."""

    failed_documents: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything a run depends on. `warnings` are sentences worth showing (one documented option wins over another)."""

    name: str
    sources: tuple[Source, ...]
    output: Output
    default: Rule = field(default_factory=lambda: Rule(strategy="auto"))
    rules: tuple[Rule, ...] = ()
    tokens: Tokens | None = None
    metadata_values: MetadataValues = "typed"
    limits: Budget = field(default_factory=Budget)
    guard: Guard = field(default_factory=Guard)
    gates: Gates | None = None
    storage: Hidden = field(default_factory=Hidden)
    beam: Hidden = field(default_factory=Hidden)
    warnings: tuple[str, ...] = ()

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """The rules in order of precedence, the default last: rule indexes point into this."""
        return (*self.rules, self.default)

    @property
    def payload(self) -> tuple[tuple[str, str], ...]:
        """The payload columns (name, declared type) of all sources, in order of first appearance."""
        found: dict[str, str] = {}
        for source in self.sources:
            found.update((name, type_) for name, type_ in source.columns.payload.items() if name not in found)
        return tuple(found.items())
