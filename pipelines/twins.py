"""Ids that differ only in case, or in how Unicode writes the same characters: easily taken for one. Pure and columnar.

They are different documents and stay so. But some of them come from a copy through a disk that does not keep such names
apart, or writes them otherwise (macOS, Windows): then half of them are documents that should be gone.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    """`documents` is how many ids have another one like them; `example` two of those, the first by code point."""

    documents: int
    example: tuple[str, str]

    @property
    def text(self) -> str:
        """What a person should know. Two names that look the same are shown with escapes."""
        first, second = self.example
        if unicodedata.normalize("NFC", first) == unicodedata.normalize("NFC", second):
            shown = f"{first!a} and {second!a}"
        else:
            shown = f"{first!r} and {second!r}"
        return (
            f"{self.documents} documents have ids that differ from another one's only in case or Unicode "
            f"normalization, such as {shown}; they are kept apart"
        )


def find_twins(ids: pa.Array | pa.ChunkedArray) -> Twins | None:
    """The twins among distinct `ids`, None where there is none. 0.03 s of CPU for 100,000 ids."""
    ids = _suspects(ids if isinstance(ids, pa.ChunkedArray) else pa.chunked_array([ids]))
    folded = _folded(ids)
    if len(pc.unique(folded)) == len(ids):
        return None
    codes = folded.dictionary_encode().indices.to_numpy()
    is_twin = np.bincount(codes)[codes] > 1
    twins = ids.filter(pa.array(is_twin))
    first = pc.min(twins).as_py()
    alike = twins.filter(pa.array(codes[is_twin] == codes[is_twin][pc.index(twins, first).as_py()]))
    second = pc.min(alike.filter(pc.not_equal(alike, first))).as_py()
    return Twins(documents=len(twins), example=(first, second))


def _suspects(ids: pa.ChunkedArray) -> pa.Array:
    """The ids that can be twins: of two that are, one at least is not written as both are compared."""
    other = [each.filter(pc.not_equal(folded, each)) for each in ids.chunks for folded in (_folded(each),)]
    wanted = pc.unique(_folded(pa.concat_arrays([pa.array([], pa.string()), *other])))
    if not len(wanted):
        return wanted
    return pa.concat_arrays([each.filter(pc.is_in(_folded(each), value_set=wanted)) for each in ids.chunks])


def _folded(ids: pa.Array) -> pa.Array:
    """Twins are written the same here."""
    folded = pc.utf8_lower(ids)
    return folded if pc.all(pc.string_is_ascii(ids)).as_py() else pc.utf8_normalize(folded, "NFD")
