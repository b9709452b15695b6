"""One pass over an HTML document: its visible text, the elements that open sections, and what is not seen.

Elements are opened and closed as the standard has it where that shows in the text: implied end tags, headings that end
each other, tables; markup that is broken loses no text. Linear in the document's length.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import NamedTuple

from chunkers.records import Drop
from chunkers.structure import html_names as names
from chunkers.structure.html_elements import Elements
from chunkers.structure.html_flow import Flow, Sources
from chunkers.structure.html_tokens import MAY_HIDE, attributes, decoded, is_hidden, raw_end
from chunkers.structure.html_walking import Walker

NOTHING: Mapping[int, int] = {}
MOST_IN_ROW = 1000
"""Characters of a table's cell that are put into one line, whatever paragraphs they are in."""


class Marked(NamedTuple):
    """An element that opens a section. `start` and `end` are offsets of the visible text, `begin` and `stop` of the
    source. `rank` is which of the selectors it matches; that of an `h1` to `h6` which matches none is -1.

    `level` is that of `h1` to `h6`, else 0. `xpath` is None of an element that lies very deep.
    """

    start: int
    end: int
    begin: int
    stop: int
    rank: int
    level: int
    xpath: str | None


class Table(NamedTuple):
    """A table with a header: the offsets of the visible text where it starts, its header ends, and it ends."""

    start: int
    header_end: int
    end: int


class Page(NamedTuple):
    """What was read. Offsets are those of `text`, the visible text, unless a field says otherwise.

    `breaks` are its line breaks with their strength (`html_names`). `drops` lie in the source.
    """

    text: str
    sources: Sources
    breaks: list[tuple[int, int]]
    marked: list[Marked]
    tables: list[Table]
    verbatim: list[tuple[int, int]]
    drops: list[Drop]
    title: str | None


class Selected(NamedTuple):
    """Which elements open sections: by name, and by where in the source they start; each with its rank.

    `holds` says whether an element that is no heading is a section with what it holds, instead of a heading.
    """

    by_name: Mapping[str, int]
    by_offset: Mapping[int, int] = NOTHING
    holds: bool = False


def read_page(text: str, selected: Selected) -> Page:
    """Read a whole document."""
    return Reader(text, selected, Elements()).run()


class Reader(Walker):
    """The state of one pass. `unseen` is the element that is not seen, by its depth."""

    def __init__(self, text: str, selected: Selected, elements: Elements) -> None:
        super().__init__(text)
        self.selected = selected
        self.flow = Flow()
        self.elements = elements
        elements.told = self.closed
        self.marked: list[Marked] = []
        self.tables: list[Table] = []
        self.verbatim: list[tuple[int, int]] = []
        self.title: str | None = None
        self.kept = 0  # elements open whose white space is kept
        self.skip_newline = False
        head = text[:1000]
        self.is_xml = head.lstrip("\ufeff \t\r\n").startswith("<?xml") or "//DTD XHTML" in head
        self.may_hide = MAY_HIDE.search(text) is not None

    def run(self) -> Page:
        self.walk()
        text, flow = self.text, self.flow
        self.elements.end_all(len(text))
        self.marked.sort(key=attrgetter("begin"))
        self.tables.sort()
        return Page(
            flow.text(),
            flow.sources(text),
            flow.breaks,
            self.marked,
            self.tables,
            self.verbatim,
            self.drops,
            self.title,
        )

    def data(self, start: int, end: int) -> None:
        text = self.text
        if self.kept:
            if self.skip_newline:
                start += 2 if text.startswith("\r\n", start) else text[start] in "\r\n"
                self.skip_newline = False
            self.flow.kept(text[start:end], start)
        else:
            self.flow.collapsed(text[start:end], start)

    def end(self, name: str, end: int) -> None:
        """An end tag, which ends at `end`."""
        self.elements.end(name, end)
        if name == "br":
            self.flow.line_break()
        elif name == "p" and self.unseen < 0:
            self.flow.edge(names.BLOCK)
        self.skip_newline = False

    def start(self, name: str, attributes_: str, begin: int, end: int) -> int:
        """A start tag; where to go on."""
        elements, flow = self.elements, self.flow
        if name == "br":
            if self.unseen < 0:
                flow.line_break()
            return end
        elements.make_room(name, begin)
        self.skip_newline = False
        is_void = name in names.VOID or (attributes_[-1:] == "/" and (self.is_xml or elements.is_foreign(name)))
        strength = names.BREAKS.get(name, 0)
        if self.unseen < 0:
            if strength:
                self.break_before(name, strength, attributes_)
            elif name == "hr":
                flow.edge(names.BLOCK)
        if is_void:
            elements.void(name, begin)
            return end
        elements.open(name, begin)
        if self.unseen < 0:
            if name in names.UNSEEN or (self.may_hide and attributes_ and is_hidden(attributes_)):
                self.unseen = elements.depth
                elements.top.is_watched = True
            else:
                self.open_seen(name, begin)
        if name in names.RAW or name in names.RCDATA:
            return self.raw(name, end)
        if name == "plaintext":
            if self.unseen < 0 and end < len(self.text):
                self.data(end, len(self.text))
            return len(self.text)
        return end

    def raw(self, name: str, start: int) -> int:
        """The content of an element in which tags are no tags; it is text in some of them."""
        text = self.text
        end = raw_end(text, start, name)
        if name == "title" and self.title is None and not self.elements.in_svg:
            self.title = " ".join(decoded(text[start:end]).split()) or None
        if self.unseen < 0 and start < end:
            self.data(start, end)
        return end

    def break_before(self, name: str, strength: int, attributes_: str) -> None:
        flow = self.flow
        if strength == names.CELL:
            row = self.elements.row
            flow.cell(row.columns if row else 0)
            if row:
                span = attributes(attributes_).get("colspan", "") if "span" in attributes_.lower() else ""
                row.columns = int(span) if span.isascii() and span.isdigit() and 0 < len(span) < 4 and int(span) else 1
        elif strength == names.ROW:
            flow.row(strength)
        else:
            flow.edge(strength)

    def open_seen(self, name: str, begin: int) -> None:
        """An element that is seen was opened: what that means for the text."""
        elements, flow = self.elements, self.flow
        if name in names.VERBATIM:
            self.kept += 1
            self.skip_newline = name != "xmp"
            elements.top.data = flow.size
        level = names.HEADINGS.get(name, 0)
        rank = self.selected.by_offset.get(begin, -1)
        if rank < 0:
            rank = self.selected.by_name.get(name, -1)
        if name in names.COMPLEX and elements.cell is not None:
            elements.cell.is_complex = True
        elif name in names.CELLS:
            elements.top.open_cell(len(flow.breaks), flow.size > 0 and flow.pending >= names.LINE, flow.size)
        elif name == "table":
            elements.top.data = flow.size
        if not level and rank < 0:
            return
        top = elements.top
        top.rank, top.level = rank, level
        top.data = flow.size
        top.holds = top.is_watched = self.selected.holds and not level
        if top.holds:
            flow.edge(names.BLOCK)
            return
        if rank >= 0:
            elements.cancel_headings()
            flow.phrasing = False
            flow.edge(names.BLOCK)
        if level:
            flow.phrasing = True
        elements.start_heading(top)

    def closed(self, end: int) -> None:
        """An element was closed, at `end` of the source."""
        flow, elements = self.flow, self.elements
        top = elements.closing
        name = top.name
        if self.unseen >= 0:
            if elements.depth + 1 > self.unseen:
                return
            self.unseen = -1
            self.drops.append(Drop(top.begin, end, name if name in names.UNSEEN else "hidden"))
            strength = names.BREAKS.get(name, 0)
            if strength and strength != names.CELL:
                flow.edge(strength)
            return
        if name in names.VERBATIM:
            self.kept -= 1
            self.skip_newline = False
            if name != "textarea":
                self.verbatim.append((top.data, flow.size))
        if top.is_heading:
            self.close_heading(end)
        elif top.holds:
            flow.edge(names.BLOCK)
            self.mark(end)
        strength = names.BREAKS.get(name, 0)
        if strength and strength != names.CELL:
            if strength == names.ROW:
                flow.row(strength)
            else:
                flow.edge(strength)
        if name in names.CELLS:
            self.close_cell()
        elif name == "tr":
            elements.close_row(flow.size)
        elif name == "table" and top.header_end > top.data and flow.size > top.header_end:
            self.tables.append(Table(top.data, top.header_end, flow.size))

    def close_heading(self, end: int) -> None:
        top, flow = self.elements.closing, self.flow
        if self.elements.drop_heading(top):
            self.mark(end)
        if top.level:
            flow.phrasing = any(each.level for each in self.elements.headings)
        if top.rank >= 0:
            flow.edge(names.BLOCK)

    def mark(self, end: int) -> None:
        top = self.elements.closing
        self.marked.append(
            Marked(top.data, self.flow.size, top.begin, end, top.rank, top.level, self.elements.xpath_of_closing())
        )

    def close_cell(self) -> None:
        """A cell of paragraphs becomes one line of its row; one of anything else stands by itself."""
        top, flow = self.elements.closing, self.flow
        if not top.is_complex and flow.size - top.data <= MOST_IN_ROW:
            flow.join_lines(top.breaks + (top.breaks_before and len(flow.breaks) > top.breaks))
            flow.pending = min(flow.pending, names.SPACE)
        else:
            flow.row(names.ROW)
            if (row := self.elements.row) is not None:
                row.columns = 0
