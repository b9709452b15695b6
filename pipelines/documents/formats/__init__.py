"""Containers: objects that hold many documents."""

from pipelines.documents.formats.names import format_of, is_container, place_of, plain_name
from pipelines.documents.formats.records import BadRecord, ReadContext, Record

__all__ = ["BadRecord", "ReadContext", "Record", "format_of", "is_container", "place_of", "plain_name"]
