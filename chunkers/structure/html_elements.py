"""The elements that are open, and which of them a tag ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chunkers.structure import html_names as names

DEEPEST_PATH = 256
"""Elements above one that still gets an XPath: paths of deeper ones would make the cost quadratic."""
_LOOK_BACK = 64


class Element:
    """An open element. `index` counts its siblings of the same name from 1; `begin` is where its tag starts."""

    # What it is: filled in for the few elements that need it.
    data = 0  # the size of the visible text when it was opened
    rank, level, holds = -1, 0, False  # see `html_page.Marked`
    is_heading = False
    is_watched = False
    given: dict[str, str] | None = None  # its attributes, where a selector asked for them
    counts: dict[str, int] | None = None  # children by name
    columns, has_data = 0, False  # of a row: columns of its last cell; whether one of its cells is no header
    row: Element | None = None  # of a table: the row that is open
    header_end, in_header = 0, True
    is_complex, breaks, breaks_before = False, 0, False  # of a cell: as in `Flow`, when it was opened

    def __init__(self, name: str, index: int, begin: int) -> None:
        self.name, self.index, self.begin = name, index, begin

    def open_cell(self, breaks: int, breaks_before: bool, size: int) -> None:
        self.breaks, self.breaks_before, self.data = breaks, breaks_before, size


class Elements:
    """The stack. `told(end)` is called for every element that is closed and breaks the text, or is watched."""

    def __init__(self) -> None:
        self.told: Callable[[int], None] = lambda end: None
        self._root = Element("", 0, 0)
        self.stack: list[Element] = []
        # In each scope how many elements of a name are open, innermost scope last; the element that opened it.
        self._scopes: list[dict[str, int]] = []
        self._bases: list[Element] = []
        self._open: dict[str, int] = {}
        self.tables: list[Element] = []
        self._cells: list[Element] = []
        self.headings: list[Element] = []
        self.closing = self._root
        self._foreign = 0

    @property
    def depth(self) -> int:
        return len(self.stack)

    @property
    def top(self) -> Element:
        return self.stack[-1] if self.stack else self._root

    @property
    def cell(self) -> Element | None:
        """The innermost cell of a table."""
        return self._cells[-1] if self._cells else None

    @property
    def row(self) -> Element | None:
        """The row of the innermost table."""
        return self.tables[-1].row if self.tables else None

    @property
    def in_svg(self) -> bool:
        return self._foreign > 0

    def is_foreign(self, name: str) -> bool:
        """Whether an element of this name is one of SVG or MathML here, which a slash ends."""
        return self._foreign > 0 or name in ("svg", "math")

    def _count(self, name: str) -> int:
        """Count a child of the element on top; which of that name it is."""
        parent = self.stack[-1] if self.stack else self._root
        counts = parent.counts
        if counts is None:
            counts = parent.counts = {}
        index = counts[name] = counts.get(name, 0) + 1
        return index

    def void(self, name: str, begin: int) -> None:
        """An element without content."""
        self._count(name)

    def open(self, name: str, begin: int) -> None:
        """Open an element."""
        element = Element(name, self._count(name), begin)
        self.stack.append(element)
        self._open[name] = self._open.get(name, 0) + 1
        if name in names.SCOPES:
            self._open_scope(element)
        elif name == "tr" and self.tables:
            self.tables[-1].row = element

    def _open_scope(self, element: Element) -> None:
        name = element.name
        self._scopes.append(self._open)
        self._bases.append(element)
        self._open = {}
        if name == "table":
            self.tables.append(element)
        elif name in names.CELLS:
            self._cells.append(element)
            if (row := self.row) is not None and name == "td":
                row.has_data = True
        elif name in ("svg", "math"):
            self._foreign += 1

    def pop(self, end: int) -> None:
        """Close the element on top."""
        element = self.stack.pop()
        name = element.name
        if name in names.SCOPES:
            self._open = self._scopes.pop()
            self._bases.pop()
            if name == "table":
                self.tables.pop()
            elif name in names.CELLS:
                self._cells.pop()
            elif name in ("svg", "math"):
                self._foreign -= 1
        self._open[name] -= 1
        if element.is_watched or name in names.BREAKS:
            self.closing = element
            self.told(end)

    def end_all(self, end: int) -> None:
        while self.stack:
            self.pop(end)

    # --- start tags --------------------------------------------------------------------------------------------------

    def make_room(self, name: str, begin: int) -> None:
        """Close what the start of an element ends."""
        if not self.stack:
            return
        if self.stack[-1].name == "head" and name not in names.OF_HEAD:
            self.pop(begin)
        if name in names.CLOSES_P and self._open.get("p"):
            self._pop_to(("p",), begin)
        if name in names.HEADINGS and self.top.name in names.HEADINGS:
            self.pop(begin)
        ends = names.ENDS.get(name)
        if ends is not None:
            for element in self.stack[: -_LOOK_BACK - 1 : -1]:
                if element.name in ends:
                    self._pop_to(ends, begin)
                    break
                if element.name in names.BARRIERS:
                    break
        elif name in names.TABLE_PARTS and self.tables:
            self._make_room_in_table(name, begin)

    def _make_room_in_table(self, name: str, begin: int) -> None:
        base = self._bases[-1]
        if name == "table":
            if base.name == "table":
                self._pop_to(("table",), begin)
            return
        if base.name in names.CELLS or base.name == "caption":
            self._pop_base(begin)
            base = self._bases[-1] if self._bases else self._root
        if base.name != "table":
            return
        if name in names.CELLS:
            while self.top.name not in ("tr", "table", *names.ROWS):
                self.pop(begin)
            return
        if self._open.get("tr"):
            self._pop_to(("tr",), begin)
        if name in names.ROWS:
            opened = [each for each in names.ROWS if self._open.get(each)]
            if opened:
                self._pop_to(opened, begin)

    # --- end tags ----------------------------------------------------------------------------------------------------

    def end(self, name: str, end: int) -> None:
        """An end tag: close the element that it ends, with all that is open inside."""
        if self.stack and self.stack[-1].name == name:
            if name not in ("html", "body"):
                self.pop(end)
            return
        if name in names.HEADINGS:
            opened = [each for each in names.HEADINGS if self._open.get(each)]
            if opened:
                self._pop_to(opened, end)
        elif self._open.get(name):
            if name in names.BREAKS or name in names.SCOPES:
                if name not in ("html", "body"):
                    self._pop_to((name,), end)
            elif self._is_in_line(name):
                self._pop_to((name,), end)
        elif self._bases:
            self._end_of_scope(name, end)

    def _is_in_line(self, name: str) -> bool:
        """Whether an element that is part of a line is open, with no block open inside of it."""
        for element in self.stack[: -_LOOK_BACK - 1 : -1]:
            if element.name == name:
                return True
            if element.name in names.BREAKS or element.name in names.SCOPES:
                return False
        return False

    def _end_of_scope(self, name: str, end: int) -> None:
        base = self._bases[-1].name
        if base == name:
            self._pop_base(end)
        elif name in names.TABLE_PARTS and (base in names.CELLS or base == "caption"):
            if name == "table" and len(self._bases) > 1 and self._bases[-2].name == "table":
                self._pop_base(end)
                self._pop_base(end)
            elif self._scopes[-1].get(name) and name != "table":
                self._pop_base(end)
                self._pop_to((name,), end)

    def _pop_base(self, end: int) -> None:
        base = self._bases[-1]
        while self.stack[-1] is not base:
            self.pop(end)
        self.pop(end)

    def _pop_to(self, opened: Iterable[str], end: int) -> None:
        """Close everything down to the innermost element of one of these names, which is open."""
        while True:
            name = self.stack[-1].name
            self.pop(end)
            if name in opened:
                return

    # --- what is known of the one that is being closed ---------------------------------------------------------------

    def start_heading(self, element: Element) -> None:
        element.is_heading = element.is_watched = True
        self.headings.append(element)

    def cancel_headings(self) -> None:
        """A heading that holds another one that is looked for is text."""
        for element in self.headings:
            element.is_heading = False
        self.headings.clear()

    def drop_heading(self, element: Element) -> bool:
        """Forget a heading that is closed; whether it counts: one that is not looked for does not inside of another."""
        self.headings.remove(element)
        return element.rank >= 0 or not any(each.rank >= 0 for each in self.headings)

    def close_row(self, size: int) -> None:
        """A row of the innermost table was closed: it may belong to the table's header."""
        if not self.tables:
            return
        table, row = self.tables[-1], self.closing
        table.row = None
        is_header = table.in_header and row.columns > 0 and (not row.has_data or self.top.name == "thead")
        if is_header:
            table.header_end = size
        elif row.columns:
            table.in_header = False

    def xpath_of_closing(self) -> str | None:
        """The path of the element that is being closed, from the document's root."""
        if len(self.stack) >= DEEPEST_PATH:
            return None
        return "".join(f"/{each.name}[{each.index}]" for each in (*self.stack, self.closing))
