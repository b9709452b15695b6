"""The chunk rows of a few documents as plain values, made one by one.

The short way beside `ChunkRows.finish`, which makes columns in Arrow: that costs a millisecond however few rows there
are, this 15 µs a row. A test holds the two together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from pipelines.documents.formats.payload import json_form
from pipelines.work.rows import DOCUMENT_COLUMNS, ChunkRows

_ENCODE = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def single_rows(rows: ChunkRows) -> Iterator[dict[str, Any]]:
    """Each row with the columns of the table in their order, the payload's last. Hashes as rows.py states."""
    position = 0
    for document in rows.documents:
        parent_id, count, title, strategy, section_id, document_hash, uri = document[: len(DOCUMENT_COLUMNS)]
        payload = dict(zip(rows.payload, document[len(DOCUMENT_COLUMNS) :], strict=True))
        payload_forms = {name: json_form(value) for name, value in payload.items()}
        for index in range(count):
            context = rows.context[position].decode()
            hashed = {
                "id": f"{parent_id}#{index}",
                "parent_id": parent_id,
                "chunk_index": index,
                "context": context,
                "start_index": rows.start_index[position],
                "end_index": rows.end_index[position],
                "headings": list(rows.headings[position]),
                "title": title,
                "token_count": rows.token_count[position],
                "strategy": strategy,
                "cut": rows.cut[position],
                "overlap": rows.overlap[position],
                "section_id": section_id,
                "source_uri": uri,
                "metadata": rows.metadata[position],
            }
            yield {
                "id": hashed["id"],
                "parent_id": parent_id,
                "chunk_index": index,
                "chunk_count": count,
                "text": rows.text[position].decode(),
                "context": context,
                "start_index": hashed["start_index"],
                "end_index": hashed["end_index"],
                "headings": hashed["headings"],
                "title": title,
                "token_count": hashed["token_count"],
                "strategy": strategy,
                "cut": hashed["cut"],
                "overlap": hashed["overlap"],
                "section_id": section_id,
                "content_hash": rows.contents[position].hex(),
                "row_hash": sha256(_ENCODE({**hashed, **payload_forms}).encode()).hexdigest(),
                "document_hash": document_hash,
                "source_uri": uri,
                "metadata": hashed["metadata"],
                **payload,
            }
            position += 1
