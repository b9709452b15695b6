"""Where the JavaScript in MDX ends: `{…}` expressions, `import`/`export` statements, tags with attributes."""

from __future__ import annotations

from chunkers.structure.markdown import patterns


class Balance:
    """Finds the ends of bracketed pieces of one text; remembers failures, so that the whole text stays linear."""

    __slots__ = ("_no_expression", "_no_expression_before", "_no_tag_before", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._no_expression = False
        self._no_expression_before = 0
        self._no_tag_before = 0

    def expression_end(self, start: int) -> int:
        """The start of the line after the expression that opens at `start`, if it fills its lines; else `start`."""
        if start < self._no_expression_before:
            return start
        end = self._close(start, self._limit(start))
        if end < 0:
            return start
        rest = patterns.REST_BLANK.match(self._text, end)
        self._no_expression_before = end
        return rest.end() if rest else start

    def esm_end(self, start: int) -> int:
        """The start of the line after the import or export at `start`: it ends before a blank line outside braces."""
        text = self._text
        position = start
        while True:
            blank = patterns.BLANK_LINE.search(text, position)
            stop = blank.start() + 1 if blank else len(text)
            opened = text.find("{", position, stop)
            if opened < 0:
                return stop
            closed = self._close(opened, self._limit(opened))
            if closed < 0:
                return stop
            position = closed

    def tag_end(self, start: int) -> int:
        """The start of the line after the tag at `start`, if only tags and expressions fill its lines; else `start`."""
        text = self._text
        if start < self._no_tag_before:
            return start
        blank = patterns.BLANK_LINE.search(text, start)
        limit = blank.start() + 1 if blank else len(text)
        position = start
        while True:
            position = self._piece_end(position, limit)
            if position < 0:
                self._no_tag_before = limit
                return start
            while text[position] in " \t":
                position += 1
            if text[position] == "\n":
                return position + 1
            if text[position] not in "<{":
                self._no_tag_before = position
                return start

    def _piece_end(self, start: int, limit: int) -> int:
        """Behind the tag or expression that starts at `start`; -1 if it does not end before `limit`."""
        depth, ends_with = 0, "close" if self._text[start] == "{" else "end"
        for token in patterns.MDX_TOKEN.finditer(self._text, start, limit):
            kind = token.lastgroup
            depth += (kind == "open") - (kind == "close")
            if kind == ends_with and depth == 0:
                return token.end()
        return -1

    def _limit(self, start: int) -> int:
        # After one expression that never closes, only those that close on their own line are looked for.
        return self._text.find("\n", start) if self._no_expression else len(self._text)

    def _close(self, start: int, limit: int) -> int:
        depth = 0
        for token in patterns.MDX_TOKEN.finditer(self._text, start, limit):
            kind = token.lastgroup
            depth += (kind == "open") - (kind == "close")
            if depth == 0 and kind == "close":
                return token.end()
        self._no_expression = True
        return -1
