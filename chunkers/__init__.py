"""Cut documents into chunks with exact offsets. Text in, spans out: no I/O, no network, no global state.

>>> from chunkers import chunk
>>> [(c.start, c.end, c.text) for c in chunk("one two three", "recursive", max_size=8, overlap=0)]
[(0, 7, 'one two'), (8, 13, 'three')]
"""

from chunkers.api import KERNEL_VERSION, build, chunk, chunks_of, strategy_kinds
from chunkers.errors import (
    BudgetExceeded,
    ChunkersError,
    DocumentError,
    InertOption,
    InvalidOption,
    InvalidResult,
    MalformedDocument,
    MissingEngine,
    MissingOption,
    NotAChunker,
    OptionError,
    OptionWarning,
    SpecialTokenFound,
    UnknownOption,
    UnknownStrategy,
)
from chunkers.records import CUTS, Chunk, Cut, Drop, Span, Split
from chunkers.strategies.base import Strategy

__all__ = [
    "CUTS",
    "KERNEL_VERSION",
    "BudgetExceeded",
    "Chunk",
    "ChunkersError",
    "Cut",
    "DocumentError",
    "Drop",
    "InertOption",
    "InvalidOption",
    "InvalidResult",
    "MalformedDocument",
    "MissingEngine",
    "MissingOption",
    "NotAChunker",
    "OptionError",
    "OptionWarning",
    "Span",
    "SpecialTokenFound",
    "Split",
    "Strategy",
    "UnknownOption",
    "UnknownStrategy",
    "build",
    "chunk",
    "chunks_of",
    "strategy_kinds",
]
