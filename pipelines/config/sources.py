"""The section `source`: what is read, how it is decoded, and which columns of records hold what."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pipelines.config import addresses
from pipelines.config.model import DECODE_ERRORS, EVERYTHING, FORMATS, Columns, Decoding, Extractor, Source
from pipelines.config.reader import REQUIRED, Section, keys_of
from pipelines.config.tree import show
from pipelines.documents.extract import ExtractorError, load_extractor
from pipelines.storage.protocols import missing
from pipelines.table.schemas import PAYLOAD_TYPES, chunks_schema


def read_sources(top: Section, environment: Mapping[str, str]) -> tuple[Source, ...]:
    """Every source, checked alone and against the others."""
    if not top.has("source"):
        raise top.tree.error((), "the key 'source' is missing; it lists the folders to read")
    value = top.values["source"]
    if not isinstance(value, list) or not value:
        raise top.error(
            "source",
            f"is {'an empty list' if value == [] else show(value)}; it must be a list of sources, each '- path: …'",
        )
    read = [
        top.tree.attempt(partial(_source, top, number, item, environment), None) for number, item in enumerate(value)
    ]
    sources = tuple(source for source in read if source is not None)
    if top.tree.is_sound("source"):
        _refuse_payload_conflicts(top, sources)
    return sources


def read_address(section: Section, key: str, environment: Mapping[str, str]) -> str:
    """The address at `key`, its variables expanded, of a store that can be reached with what is installed."""
    text = section.text(key)
    try:
        address = addresses.expand(text, environment)
    except addresses.AddressError as error:
        raise section.error(key, str(error)) from None
    if problem := missing(addresses.protocol_of(address)):
        raise section.error(key, problem)
    return section.printable(key, address)


def _source(top: Section, number: int, item: Any, environment: Mapping[str, str]) -> Source | None:
    section = Section(top.tree, ("source", number), item, keys_of(Source))
    include = section.globs("include", EVERYTHING)
    if not include:
        raise section.error("include", 'is an empty list, which selects nothing; write ["**"] for everything')
    format_ = section.choice("format", FORMATS, "auto")
    _refuse_inert(section, format_)
    return Source(
        path=read_address(section, "path", environment),
        include=include,
        exclude=section.globs("exclude", ()),
        id_prefix="" if section.values.get("id_prefix") == "" else section.text("id_prefix", ""),
        format=format_,
        columns=_columns(section),
        decoding=_decoding(section),
        extractor=_extractor(section),
    )


def _refuse_inert(section: Section, format_: str) -> None:
    """Keys that would do nothing."""
    extracted = section.values.get("extractor") is not None
    if section.has("columns") and format_ == "text":
        raise section.error("columns", "is for records, but format is 'text', which reads none; remove one of them")
    if extracted and section.has("columns"):
        raise section.error("columns", "is for records, but the extractor gives one text a file; remove one of them")
    if extracted and format_ not in ("auto", "text"):
        raise section.error("format", f"is {format_!r}, but the extractor gives one text a file; remove one of them")
    if section.has("decoding") and (extracted or format_ == "parquet"):
        what = "the extractor gets bytes and gives text" if extracted else "the text in Parquet is UTF-8"
        raise section.error("decoding", f"would do nothing: {what}; remove it")


def _decoding(section: Section) -> Decoding:
    if not section.has("decoding"):
        return Decoding()
    inner = section.section("decoding", keys_of(Decoding))
    encoding = inner.text("encoding") if inner.values.get("encoding") is not None else None
    if encoding is not None and not _is_text_encoding(encoding):
        raise inner.error(
            "encoding",
            f"is {show(encoding)}, which Python cannot decode; "
            "it must be null (detect) or a name like utf-8, gb18030, cp1252",
        )
    return Decoding(encoding=encoding, errors=inner.choice("errors", DECODE_ERRORS, "strict"))


def _is_text_encoding(name: str) -> bool:
    try:
        b"aaaa".decode(name)  # refuses codecs that give no text (base64, rot13), which codecs.lookup() finds
    except UnicodeDecodeError:
        return True
    except (LookupError, ValueError):
        return False
    return True


def _columns(section: Section) -> Columns:
    if not section.has("columns"):
        return Columns()
    inner = section.section("columns", keys_of(Columns))
    columns = Columns(
        id=inner.text("id", "id"),
        text=inner.text("text", "text"),
        title=_optional(inner, "title"),
        media_type=_optional(inner, "media_type"),
        metadata=_metadata(inner),
        payload=_payload(inner),
    )
    if columns.id == columns.text != "":
        raise inner.error("id" if inner.has("id") else "text", f"is {columns.id!r}, which both id and text would be")
    return columns


def _optional(section: Section, key: str) -> str | None:
    return None if section.get(key, None) is None else str(section.text(key, REQUIRED))


def _metadata(section: Section) -> tuple[str, ...]:
    value = section.get("metadata", [])
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise section.error("metadata", f"is {show(value)}; it must be a list of column names")
    if len(set(value)) < len(value):
        raise section.error("metadata", "names a column twice")
    return tuple(section.printable("metadata", name) for name in value)


def _payload(section: Section) -> Mapping[str, str]:
    value: Any = section.get("payload", {})
    if not isinstance(value, dict):
        raise section.error("payload", f"is {show(value)}; it must map column names to types, like {{price: double}}")
    for name, type_ in value.items():
        path = (*section.path, "payload", name)
        if type_ not in PAYLOAD_TYPES:
            raise section.tree.error(path, f"is {show(type_)}; it must be one of {', '.join(PAYLOAD_TYPES)}")
        section.printable("payload", name)
        try:
            chunks_schema({name: type_})
        except ValueError as error:
            raise section.tree.error(path, f"cannot be: {error}") from None
    return value


def _extractor(section: Section) -> Extractor | None:
    if section.get("extractor", None) is None:
        return None
    inner = section.section("extractor", keys_of(Extractor))
    extractor = Extractor(function=inner.text("function"), version=inner.text("version"))
    try:
        load_extractor(extractor.function)
    except ExtractorError as error:
        raise inner.error("function", f"is {show(extractor.function)}, which {error}") from None
    return extractor


def _refuse_payload_conflicts(top: Section, sources: tuple[Source, ...]) -> None:
    """One column of the table has one name and one type."""
    seen: dict[str, tuple[str, str, int]] = {}
    for number, source in enumerate(sources):
        for name, type_ in source.columns.payload.items():
            known = seen.setdefault(name.lower(), (name, type_, number))
            if known[:2] != (name, type_):
                raise top.tree.error(
                    ("source", number, "columns", "payload", name),
                    f"is {name!r} of type {type_}, but source[{known[2]}] has {known[0]!r} of type {known[1]}; "
                    "a payload column has one spelling and one type in all sources",
                )
