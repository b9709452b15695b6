"""One walk over the tags of an HTML document, in linear time whatever is broken about it."""

from __future__ import annotations

from chunkers.records import Drop
from chunkers.structure.html_tokens import PLAIN_TAG, TAG, markup_end


class Walker:
    """Tells of tags and of the text between them, as `start`, `end` and `data`, which others define.

    While `unseen` is not negative, nothing is told of text and comments.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.drops: list[Drop] = []
        self.unseen = -1
        self.at = 0

    def start(self, name: str, attributes: str, begin: int, end: int) -> int:
        """A start tag `text[begin:end]`; where to go on."""
        raise NotImplementedError

    def end(self, name: str, end: int) -> None:
        """An end tag, which ends at `end`."""
        raise NotImplementedError

    def data(self, start: int, end: int) -> None:
        """Text that is no markup."""
        raise NotImplementedError

    def walk(self) -> None:
        """Go through the whole document."""
        text = self.text
        find, match = text.find, TAG.match
        last = text.rfind(">")
        at = 1 if text[:1] == "\ufeff" else 0
        while True:
            mark = find("<", at)
            if mark < 0:
                break
            if mark > at and self.unseen < 0:
                self.data(at, mark)
            tag = match(text, mark) if mark < last else None
            if tag is None and text[mark + 1 : mark + 2].isalpha() and mark < last and match is not PLAIN_TAG.match:
                match = PLAIN_TAG.match  # quotes are open at the text's end
                tag = match(text, mark)
            if tag is None:
                at = self.markup(mark)
                continue
            self.at = at = tag.end()
            if tag[1]:
                self.end(tag[2].lower(), at)
            else:
                at = self.start(tag[2].lower(), tag[3], mark, at)
        if at < len(text) and self.unseen < 0:
            self.data(at, len(text))
        self.at = len(text)

    def markup(self, mark: int) -> int:
        """What starts with a `<` that opens no whole tag: where it ends."""
        text = self.text
        following = text[mark + 1 : mark + 3]
        if following[:1] in ("!", "?") or (following[:1] == "/" and not following[1:].isalpha() and following[1:]):
            end, kind = markup_end(text, mark)
            if kind == "comment" and self.unseen < 0:
                self.drops.append(Drop(mark, end, "comment"))
            return end
        end = text.find("<", mark + 1)
        end = len(text) if end < 0 else end
        if self.unseen < 0:
            self.data(mark, end)
        return end
