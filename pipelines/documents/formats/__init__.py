"""Containers: objects that hold many documents."""

from pipelines.documents.formats.names import format_of, is_container, place_of, plain_name
from pipelines.documents.formats.reading import Reading, read_records
from pipelines.documents.formats.records import BadRecord, ReadContext, Record, context_of, digest

__all__ = [
    "BadRecord",
    "ReadContext",
    "Reading",
    "Record",
    "context_of",
    "digest",
    "format_of",
    "is_container",
    "place_of",
    "plain_name",
    "read_records",
]
