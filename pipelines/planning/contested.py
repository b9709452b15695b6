"""Records that another object's record, or another file, took the id of: when that may be free, they are read again."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def with_contested(documents: pa.Table, contested: pa.Table) -> pa.Table:
    """`documents` (PLAN_DOCUMENTS), where a kept object is read if the one that has an id of its record is not kept.

    What is read because of that may free an id in turn.
    """
    if not contested.num_rows:
        return documents
    while True:
        kept = pc.equal(documents["action"], "keep")
        still = documents.filter(kept)["id"].combine_chunks()
        free = contested.filter(pc.invert(pc.is_in(contested["key"], value_set=still)))["uri"].combine_chunks()
        # (only what is listed can be read)
        again = pc.and_(pc.and_(kept, pc.greater_equal(documents["source"], 0)), pc.is_in(documents["uri"], free))
        if not np.any(again.to_numpy(zero_copy_only=False)):
            return documents
        for name, value in (("action", "read"), ("reason", "retry")):
            index = documents.schema.get_field_index(name)
            column = pc.if_else(again, value, documents[name])
            documents = documents.set_column(index, documents.schema.field(name), column)
        documents = documents.unify_dictionaries().combine_chunks()
