"""Which open blocks a further line belongs to: the first half of reading a line of a Markdown container."""

from __future__ import annotations

from chunkers.structure.markdown import patterns
from chunkers.structure.markdown.openblocks import (
    BOX,
    CODE,
    FENCE,
    HTML,
    ITEM,
    NOTE,
    QUOTE,
    OpenBlocks,
)


class ContinuingBlocks(OpenBlocks):
    """Continues or closes open blocks; opens none."""

    __slots__ = ()

    # -- walking the open containers

    def walk(self) -> int:
        """How many open containers this line continues; leaves `mark`, `column`, `base` and `blank` behind them."""
        text = self.text
        self.base = 0
        self.skip_space(self.line, 0)
        matched = 0
        for entry in self.stack:
            kind = entry[0]
            if kind in (ITEM, NOTE):
                if self.blank:
                    if not entry[3]:
                        break
                elif self.column - self.base >= entry[1]:
                    self.base += entry[1]
                    entry[3] = 1
                else:
                    break
            elif kind == QUOTE:
                if self.blank or text[self.mark] != ">" or self.column - self.base > 3:
                    break
                self.enter_quote()
            matched += 1
        return matched

    # -- continuing the open leaf

    def continue_verbatim(self) -> bool:
        """Whether this line belongs to the open fence, HTML block or math; closes it if this is its last line."""
        text, mark, end = self.text, self.mark, self.end
        character, length = self.closer
        if self.leaf == FENCE:
            if not self.blank:
                if text[mark] == character and (self.is_mdx or self.column - self.base <= 3):
                    run = text[mark:end].strip(" \t\n")
                    if len(run) >= length and not run.strip(character):
                        self.last_end = end
                        self.close_leaf(tail=self.line)
                        return True
                elif text[mark] == ":" and self.never_closes() and patterns.BOX_CLOSE.match(text, mark):
                    return False
        elif self.leaf == HTML:
            if character in "fg":
                if self.blank or (text[mark] == ":" and patterns.BOX_CLOSE.match(text, mark)):
                    return False
            elif patterns.HTML_CLOSE[character].search(text, mark, end):
                self.last_end = end
                self.close_leaf()
                return True
        elif text[mark:end].rstrip().endswith("$$"):
            self.last_end = end
            self.close_leaf(tail=self.line)
            return True
        if not self.blank:
            self.last_end = end
        return True

    def never_closes(self) -> bool:
        """Whether no line below can close the open fence: then a `:::` line does not belong to it."""
        known = self.never_closed.get(self.closer)
        if known is not None and self.line >= known:
            return True
        character, length = self.closer
        position = self.line
        close = patterns.NESTED_FENCE_CLOSE[character]
        while match := close.search(self.text, position):
            if match.end(1) - match.start(1) >= length:
                return False
            position = match.end()
        self.never_closed[self.closer] = self.line
        return True

    def continue_lines(self, leaf: int) -> bool:
        """Whether this line is one more row of the open table or line of the open indented code."""
        if leaf == CODE:
            if self.blank:
                return True
            if self.column - self.base < 4:
                return False
        elif self.blank or self.column - self.base > 3 or patterns.TABLE_STOP.match(self.text, self.mark):
            return False
        self.last_end = self.end
        return True

    def close_box(self, matched: int) -> bool:
        """Close the `:::` container that this line ends, if it ends one: one of its length, else the innermost."""
        if self.column - self.base > 3:
            return False
        match = patterns.BOX_CLOSE.match(self.text, self.mark)
        if match is None:
            return False
        length = match.end(1) - match.start(1)
        boxes = [i for i in range(matched - 1, -1, -1) if self.stack[i][0] == BOX and self.stack[i][1] <= length]
        if not boxes:
            return False
        index = next((i for i in boxes if self.stack[i][1] == length), boxes[0])
        self.close_leaf()
        self.close_to(index + 1)
        self.last_end = self.end
        box = self.stack.pop()
        self.blocks[box[2]] = self.blocks[box[2]]._replace(end=self.end, tail=self.line)
        return True
