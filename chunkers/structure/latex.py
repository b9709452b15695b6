"""LaTeX: sections, environments, math and what else cutting depends on, with exact offsets, by one regular expression.

Nothing is expanded and no file is followed. What cannot be read (a group that is never closed) is text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from chunkers.structure.latex_text import plain_text
from chunkers.text.graphemes import ceil_edge
from chunkers.text.patterns import compile_pattern

LEVELS = {
    "part": 0,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
}
_VERBATIM = compile_pattern(
    r"[BL]?[Vv]erbatim\*?|SaveVerbatim|lstlisting|minted|comment|filecontents\*?|luacode\*?|asy|pycode|sagesilent"
)
_MATH = compile_pattern(r"(?:math|displaymath|equation|align|alignat|gather|multline|flalign|eqnarray|dmath)\*?")
_GROUPS_OF = {
    "newcommand": 2,
    "renewcommand": 2,
    "providecommand": 2,
    "DeclareRobustCommand": 2,
    "DeclareMathOperator": 2,
    "newenvironment": 3,
    "renewenvironment": 3,
    "NewDocumentCommand": 3,
    "RenewDocumentCommand": 3,
    "ProvideDocumentCommand": 3,
    "DeclareDocumentCommand": 3,
    "NewDocumentEnvironment": 4,
    "newtheorem": 2,
}
_LETTERS_OF_WORDS = "cha|par|sec|sub|beg|end|ver|lst|min|ite|inp|inc|tit|def|edef|gdef|xdef|iff|" + "|".join(
    sorted({name[:3] for name in _GROUPS_OF})
)
_FORMULA = r"(?:[^$\\\n]|\\[\s\S]|\n(?![ \t]*\n))++\$"
# All of it starts with one of four characters, in front of any group: they are searched for in a tenth of the time.
# Most commands are none of these: one look at their first letters tells.
_TOKEN = compile_pattern(
    rf"\\(?:(?={_LETTERS_OF_WORDS})(?:"
    r"(?P<section>part|chapter|(?:sub){0,2}section|(?:sub)?paragraph)(?P<star>\*?)(?![a-zA-Z@])"
    r"|(?P<edge>begin|end)[ \t]*\{(?P<name>[^{}\n]{1,64})\}"
    r"|(?P<verb>verb\*?|lstinline|mintinline)(?![a-zA-Z@])"
    r"|(?P<item>item)(?![a-zA-Z@])"
    r"|(?P<file>input|include|subfile|subfileinclude)(?![a-zA-Z@])"
    r"|(?P<title>title)(?![a-zA-Z@])"
    rf"|(?P<definition>{'|'.join(_GROUPS_OF)})(?![a-zA-Z@])"
    r"|(?P<def>[egx]?def)(?![a-zA-Z@])"
    r"|(?P<unread>iffalse)(?![a-zA-Z@]))"
    r"|(?P<opener>[(\[])|[^a-zA-Z])"
    rf"|%[^\n]*|\$(?:(?P<inline>{_FORMULA})|(?P<dollar>\$?))|\n(?P<blank>[ \t]*(?=\n))"
)
_CONDITION = compile_pattern(
    r"%[^\n]*|\\(?:(?P<open>if(?!(?:f|thenelse)(?![a-zA-Z@]))[a-zA-Z@]*)|(?P<else>else)(?![a-zA-Z@])|(?P<fi>fi)(?![a-zA-Z@])|[^a-zA-Z])"
)
_GROUP_MARK = compile_pattern(r"[{}]|\\[\s\S]|%[^\n]*")
_OPTIONAL = compile_pattern(r"\s*\[[^\[\]]{0,400}\]")
_NAME = compile_pattern(r"\s*\\(?:[a-zA-Z@]+|[^a-zA-Z])")
_GROUP_AHEAD = compile_pattern(r"\s*\{")
_PARAMETERS = compile_pattern(r"\s*\\(?:[a-zA-Z@]+|[^a-zA-Z])[^{}\n]{0,200}\{")
_LABELS = compile_pattern(r"(?:\s?[ \t]*\\label\s*\{[^{}\n]{0,200}\})*[ \t]*\n?")
_CLOSERS = {
    "(": compile_pattern(r"(?:[^\\]|\\[^)])*+\\\)", re.DOTALL),
    "[": compile_pattern(r"(?:[^\\]|\\[^\]])*+\\\]", re.DOTALL),
    "$$": compile_pattern(r"(?:[^$\\]|\\[\s\S]|\$(?!\$))*+\$\$"),
}
_NO_MATH = compile_pattern(r"\\(?:part|chapter|(?:sub)*section|begin\s*\{document\}|end\s*\{document\})(?![a-zA-Z@])")
_FILE = compile_pattern(r"\s*(?:\{([^{}\n]{1,400})\}|([^\s{}\\%]{1,400}))")
_VERB_OPTIONS = compile_pattern(r"(?:\[[^\[\]\n]*\])?(?:\{[^{}\n]*\}(?=[^\s\w]))?")
_MOST_SPENT = 8


class Section(NamedTuple):
    """A heading command with its arguments and labels, `start` to `end`; `name` ends in `*` where it has one."""

    start: int
    end: int
    level: int
    name: str
    title: str


class Environment(NamedTuple):
    """From `\\begin` to behind `\\end{name}`; `depth` counts the environments around it, `document` left out."""

    start: int
    end: int
    name: str
    depth: int


class Latex(NamedTuple):
    """What a LaTeX document holds. All offsets are code points, all lists in order of their starts.

    `math` are spans of formulas, `verbatim` of verbatim text, in the line or as an environment. `breaks` are pairs of a
    blank line's offset and the number of environments around it, `items` likewise. The document ends at `end`.
    """

    sections: list[Section]
    environments: list[Environment]
    math: list[tuple[int, int]]
    verbatim: list[tuple[int, int]]
    breaks: list[tuple[int, int]]
    items: list[tuple[int, int]]
    includes: list[str]
    title: str | None
    end: int


def read_latex(text: str) -> Latex:
    """Read a document. Never raises; linear in its length."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.sections: list[Section] = []
        self.environments: list[Environment] = []
        self.math: list[tuple[int, int]] = []
        self.verbatim: list[tuple[int, int]] = []
        self.breaks: list[tuple[int, int]] = []
        self.items: list[tuple[int, int]] = []
        self.includes: list[str] = []
        self.title: str | None = None
        self.end = len(text)
        self.open: list[tuple[str, int, int]] = []  # name, start, depth
        self.depth = 0
        self.named: dict[str, int] = {}  # how many of a name are open
        self.closers: dict[str, int] = {}  # the next end of a kind of math, or of a verbatim environment
        self.no_fi = False
        self.left = _MOST_SPENT * len(text) + 1000  # characters that groups without an end may cost

    def read(self) -> Latex:
        text, match = self.text, _TOKEN.search(self.text)
        while match is not None:
            kind = match.lastgroup
            at = match.end()
            if kind == "inline":
                self.math.append(match.span())
            elif kind == "blank":
                self.breaks.append((match.start(), self.depth))
            elif kind is not None:
                at = self.take(kind if kind not in ("star", "name") else "section" if kind == "star" else "edge", match)
                if at < 0:
                    break
            match = _TOKEN.search(text, at)
        environments = sorted(self.environments, key=lambda each: (each.start, -each.end))
        return Latex(
            self.sections,
            environments,
            sorted(self.math),
            sorted(self.verbatim),
            self.breaks,
            self.items,
            self.includes,
            self.title,
            self.end,
        )

    def take(self, kind: str, match: re.Match[str]) -> int:
        """Read what starts with a token; where to go on, or -1 behind the document's end."""
        start, at = match.span()
        if kind == "edge":
            return self.begin(match) if match["edge"] == "begin" else self.finish(match)
        if kind == "dollar":
            return self.closed(start, at, "$$") if match[0] == "$$" else at
        if kind == "opener":
            return self.closed(start, at, match["opener"])
        if kind == "section":
            return self.section(match)
        if kind == "item":
            self.items.append((start, self.depth))
        elif kind == "verb":
            return self.verb(start, at, match["verb"])
        elif kind == "file":
            name = _FILE.match(self.text, at)
            if name is not None:
                self.includes.append((name[1] or name[2]).strip())
                return name.end()
        elif kind == "title" and self.title is None:
            group = self.argument(at)
            if group is not None:
                self.title = plain_text(self.text[group[0] + 1 : group[1] - 1]) or None
        elif kind == "definition":
            return self.definition(at, _GROUPS_OF[match["definition"]])
        elif kind == "unread":
            return self.unread_end(at)
        elif kind == "def":
            parameters = _PARAMETERS.match(self.text, at)
            return self.group_end(parameters.end() - 1) or at if parameters else at
        return at

    def unread_end(self, start: int) -> int:
        """Behind what `\\iffalse` hides: its `\\else` or `\\fi`; `start` if there is none."""
        depth = 0
        for mark in () if self.no_fi else _CONDITION.finditer(self.text, start):
            if depth == 0 and (mark["else"] or mark["fi"]):
                return mark.end()
            depth += bool(mark["open"]) - bool(mark["fi"])
        self.no_fi = True
        return start

    # -- commands

    def section(self, match: re.Match[str]) -> int:
        group = self.argument(match.end())
        if group is None:
            return match.end()
        start, stop = group
        name, text = match["section"], self.text
        labels = _LABELS.match(text, stop)
        end = labels.end() if labels else stop
        title = plain_text(text[start + 1 : stop - 1])
        self.sections.append(Section(match.start(), end, LEVELS[name], name + match["star"], title))
        return max(stop, end - 1)

    def argument(self, at: int) -> tuple[int, int] | None:
        """The group behind a command and its optional arguments."""
        while optional := _OPTIONAL.match(self.text, at):
            at = optional.end()
        ahead = _GROUP_AHEAD.match(self.text, at)
        end = self.group_end(ahead.end() - 1) if ahead else 0
        return (ahead.end() - 1, end) if ahead and end else None

    def definition(self, at: int, groups: int) -> int:
        """Behind a definition, whose arguments are no text of the document."""
        text, done = self.text, at + (1 if self.text[at : at + 1] == "*" else 0)
        while groups:
            if optional := _OPTIONAL.match(text, done):
                done = optional.end()
                continue
            if ahead := _GROUP_AHEAD.match(text, done):
                done = self.group_end(ahead.end() - 1)
            elif name := _NAME.match(text, done):
                done = name.end()
            else:
                return done
            if not done:
                return at
            groups -= 1
        return done

    def group_end(self, start: int) -> int:
        """Behind the group that opens at `start`; 0 if it is never closed."""
        depth, at = 0, start
        if self.left < 0:
            return 0
        for mark in _GROUP_MARK.finditer(self.text, start):
            character = mark[0]
            if character == "{":
                depth += 1
            elif character == "}":
                depth -= 1
                if depth == 0:
                    return mark.end()
            at = mark.end()
            if at - start > self.left:
                break
        self.left -= len(self.text) - start
        return 0

    def verb(self, start: int, at: int, name: str) -> int:
        """`\\verb|…|` with any delimiter, on one line."""
        text = self.text
        if not name.startswith("verb"):
            options = _VERB_OPTIONS.match(text, at)
            at = options.end() if options else at
        mark = text[at : at + 1]
        if not mark or mark.isspace() or mark.isalpha() or mark == "*":
            return at
        line = text.find("\n", at)
        stop = text.find("}" if mark == "{" else mark, at + 1, line if line >= 0 else len(text))
        if stop < 0:
            return at
        self.verbatim.append((start, stop + 1))
        return stop + 1

    # -- environments

    def begin(self, match: re.Match[str]) -> int:
        name, start = match["name"].strip(), match.start()
        if _VERBATIM.fullmatch(name):
            stop = self.verbatim_end(name, match.end())
            if stop:
                self.environments.append(Environment(start, stop, name, self.depth))
                self.verbatim.append((start, stop))
                return stop
        self.open.append((name, start, self.depth))
        self.named[name] = self.named.get(name, 0) + 1
        self.depth += name != "document"
        return match.end()

    def finish(self, match: re.Match[str]) -> int:
        name = match["name"].strip()
        if not self.named.get(name):
            return match.end()
        while True:
            opened, start, self.depth = self.open.pop()
            self.named[opened] -= 1
            if opened == name:
                break
        if name == "document":
            self.environments.append(Environment(start, match.end(), name, self.depth))
            self.end = ceil_edge(self.text, match.end(), match.end() - 1, len(self.text))  # marks on the brace stay
            return -1
        self.environments.append(Environment(start, match.end(), name, self.depth))
        if _MATH.fullmatch(name):
            self.math.append((start, match.end()))
        return match.end()

    def verbatim_end(self, name: str, at: int) -> int:
        """Behind the end of a verbatim environment; 0 if it has none."""
        closer = f"\\end{{{name}}}"
        known = self.closers.get(closer, 0)
        if known <= at and known >= 0:
            found = self.text.find(closer, at)
            known = self.closers[closer] = found + len(closer) if found >= 0 else -1
        return max(known, 0)

    # -- math

    def closed(self, start: int, at: int, mark: str) -> int:
        """A formula up to its own closing mark. One that would take in a heading is none."""
        known = self.closers.get(mark, 0)
        if 0 <= known <= at:
            found = _CLOSERS[mark].match(self.text, at)
            known = self.closers[mark] = found.end() if found else -1
        if known < 0 or _NO_MATH.search(self.text, at, known):
            return at
        self.math.append((start, known))
        return known
