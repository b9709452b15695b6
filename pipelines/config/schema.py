"""The JSON Schema of a configuration, for editors: enough to complete and to warn. What decides is `load.py`."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import chunkers
from chunkers.measure.tokens import ENCODINGS
from pipelines.config.load import FILE_OPTIONS
from pipelines.config.model import (
    DECODE_ERRORS,
    EVERYTHING,
    FORMATS,
    METADATA_VALUES,
    SNAPSHOTS,
    Budget,
    Columns,
    Guard,
)
from pipelines.table.schemas import PAYLOAD_TYPES

Schema = dict[str, Any]

_SIZE = {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^\d{1,12}(\.\d{1,6})? ?([KMG]i?B|B)$"}]}
_SHARE = {"type": "string", "pattern": r"^\d{1,3}(\.\d{1,6})? ?%$"}
_TEXT = {"type": "string", "minLength": 1}


def schema() -> Schema:
    """The schema (draft 2020-12), with the strategies and options of this installation."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rechunk configuration",
        **_section(
            {
                "name": {**_TEXT, "description": "what runs call this configuration (default: the file's name)"},
                "source": {"type": "array", "minItems": 1, "items": _source()},
                "chunking": _section({"default": _rule(matches=False), "rules": _list(_rule(matches=True))}),
                "tokens": _section({"encoding_name": {"enum": list(ENCODINGS)}}, required=["encoding_name"]),
                "output": _section(
                    {
                        "path": {**_TEXT, "description": "the folder of the table"},
                        "snapshot": {"enum": list(SNAPSHOTS)},
                        "task_bytes": {**_SIZE, "description": "input of one shard (default: 16MiB)"},
                    },
                    required=["path"],
                ),
                "limits": _limits(),
                "guard": _section(
                    {
                        "documents": {"type": "integer", "minimum": 0, "default": Guard().documents},
                        "percent": {"type": "number", "minimum": 0, "maximum": 100, "default": Guard().percent},
                    }
                ),
                "gates": _section(
                    {"failed_documents": {**_section({"soft": _SHARE, "hard": _SHARE}), "minProperties": 1}},
                    required=["failed_documents"],
                ),
                "storage": {
                    "type": "object",
                    "properties": {"file": _section({name: {"type": "boolean"} for name in FILE_OPTIONS})},
                    "additionalProperties": {"type": "object"},
                },
                "beam": {
                    "type": "object",
                    "properties": {
                        "runner": {**_TEXT, "description": "a runner of Beam; any pipeline option beside it"}
                    },
                    "required": ["runner"],
                },
                "metadata_values": {"enum": list(METADATA_VALUES), "default": METADATA_VALUES[0]},
            },
            required=["source", "output"],
        ),
    }


def _source() -> Schema:
    decoding = {
        "encoding": {"type": ["string", "null"], "default": None, "description": "null: detected per document"},
        "errors": {"enum": list(DECODE_ERRORS), "default": DECODE_ERRORS[0]},
    }
    return _section(
        {
            "path": {**_TEXT, "description": "a folder or one object; ${NAME} is expanded"},
            "include": {**_list(_TEXT), "minItems": 1, "default": list(EVERYTHING)},
            "exclude": {**_list(_TEXT), "default": []},
            "id_prefix": {"type": "string", "default": ""},
            "format": {"enum": list(FORMATS), "default": FORMATS[0]},
            "columns": _columns(),
            "decoding": _section(decoding),
            "extractor": _section(
                {"function": {**_TEXT, "description": "package.module:function"}, "version": _TEXT},
                required=["function", "version"],
            ),
        },
        required=["path"],
    )


def _columns() -> Schema:
    usual = Columns()
    name = {"type": ["string", "null"], "minLength": 1, "default": None}
    return _section(
        {
            "id": {**_TEXT, "default": usual.id},
            "text": {**_TEXT, "default": usual.text},
            "title": name,
            "media_type": name,
            "metadata": {**_list(_TEXT), "uniqueItems": True, "default": []},
            "payload": {"type": "object", "additionalProperties": {"enum": list(PAYLOAD_TYPES)}, "default": {}},
        }
    )


def _limits() -> Schema:
    usual = Budget()
    whole = {"type": "integer", "minimum": 1}
    return _section(
        {
            "max_bytes": {**_SIZE, "description": "of a document or record, decompressed (default: 512MiB)"},
            "max_chunks": {**whole, "default": usual.max_chunks},
            "work": {"type": ["integer", "null"], "minimum": 1, "default": None},
            "seconds": {"type": "number", "exclusiveMinimum": 0, "default": usual.seconds},
            "max_ratio": {**whole, "default": usual.max_ratio},
        }
    )


def _rule(*, matches: bool) -> Schema:
    kinds = chunkers.strategy_kinds()
    fixed: Schema = {"strategy": {"enum": sorted(kinds)}}
    if matches:
        fixed = {"match": {**_TEXT, "description": "a glob on document ids; the first rule that matches wins"}, **fixed}
    return {
        "type": "object",
        "required": list(fixed),
        "properties": fixed,
        "allOf": [
            {
                "if": {"properties": {"strategy": {"const": name}}},
                "then": {
                    "properties": {field.name: _option(field) for field in dataclasses.fields(kind.Options)},
                    "propertyNames": {"enum": [*fixed, *(field.name for field in dataclasses.fields(kind.Options))]},
                },
            }
            for name, kind in sorted(kinds.items())
        ],
    }


def _option(field: dataclasses.Field[Any]) -> Schema:
    try:
        return {"default": json.loads(json.dumps(field.default))}
    except TypeError:  # no default, or one that JSON cannot hold
        return {}


def _section(properties: Schema, required: list[str] | None = None) -> Schema:
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**found, "required": required} if required else found


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}
