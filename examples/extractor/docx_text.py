"""An extractor: the text of a Word document (DOCX) as Markdown, with the standard library alone.

Headings become `#` lines, list items `-` lines, tables pipe tables. In a configuration:

    source:
      - path: letters
        include: ["**/*.docx"]
        extractor: {function: "examples.extractor.docx_text:to_markdown", version: "1"}

An extractor gets an object's bytes and gives text. Whatever it raises becomes a failure row of that document alone. It
must give the same text for the same bytes, in every process.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MAX_XML = 64 * 1024 * 1024
"""Bytes of XML that are read: a small ZIP can hold a very large file."""


def to_markdown(data: bytes) -> str:
    """The Markdown of a DOCX file. Raises ValueError for what is none."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open("word/document.xml") as part:
            xml = part.read(MAX_XML + 1)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ValueError(f"not a Word document: {error}") from None
    if len(xml) > MAX_XML:
        raise ValueError(f"its text takes more than {MAX_XML} bytes of XML")
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        raise ValueError("its XML declares entities, which no Word document does")
    body = ElementTree.fromstring(xml).find(f"{_W}body")
    if body is None:
        raise ValueError("not a Word document: it has no body")
    return "\n\n".join(_blocks(body)) + "\n"


def _blocks(body: ElementTree.Element) -> Iterator[str]:
    for element in body:
        if element.tag == f"{_W}p" and (text := _paragraph(element)):
            yield text
        elif element.tag == f"{_W}tbl":
            yield _table(element)


def _paragraph(element: ElementTree.Element) -> str:
    text = _text(element).strip()
    style = element.find(f"{_W}pPr/{_W}pStyle")
    heading = None if style is None else re.fullmatch(r"Heading([1-6])", style.get(f"{_W}val", ""))
    if text and heading:
        return "#" * int(heading[1]) + " " + " ".join(text.split())
    if text and element.find(f"{_W}pPr/{_W}numPr") is not None:
        return f"- {text}"
    return text


def _text(element: ElementTree.Element) -> str:
    signs = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n"}
    return "".join((each.text or "") if each.tag == f"{_W}t" else signs.get(each.tag, "") for each in element.iter())


def _table(element: ElementTree.Element) -> str:
    rows = [
        [" ".join(_text(cell).split()).replace("|", "\\|") for cell in row.iter(f"{_W}tc")]
        for row in element.iter(f"{_W}tr")
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines[:1], "|" + " --- |" * len(rows[0]), *lines[1:]]) if rows else ""
