"""The ladders of programming and markup languages: before definitions, then statements, blank lines and lines.

All boundaries are zero-width and lie before the line (or the tag) that they are about; what belongs to a definition
and stands above it (decorators, attributes, comments) goes with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import overload

from chunkers.cutting.levels import (
    TEXT_LADDER,
    BlankLine,
    BoundLevel,
    Gap,
    Grapheme,
    Ladder,
    Level,
    Line,
    Scanned,
    Sentence,
    Word,
)
from chunkers.records import Cut
from chunkers.text.lines import NEWLINE
from chunkers.text.patterns import compile_pattern

_AHEAD = 16_384  # code points behind a line end that tell what it is
_DOCUMENTED = r"/\*\*(?!/)"
MOST_ABOVE = 100  # lines that belong to the one below them
_LONGEST_ABOVE = 400
_MOST_BEHIND = 200  # code points of such a line behind what it starts with


@dataclass(frozen=True, slots=True)
class LineStart:
    """Before a line that starts with `pattern`, unless the line above it belongs to it (starts with `above`)."""

    pattern: re.Pattern[str]
    cut: Cut
    above: re.Pattern[str] | None = None

    def bind(self, text: str) -> BoundLevel:
        return _Lines(text, self.pattern, self.cut, accept=self._accepts if self.above else None, at_start=True)

    def _accepts(self, text: str, found: re.Match[str]) -> bool:
        return self.above is None or belongs_below(text, found.start(), self.above) < 0


def belongs_below(text: str, end: int, above: re.Pattern[str]) -> int:
    """Where the line starts that ends at `end`, if it starts with `above`; else -1."""
    start = text.rfind("\n", max(0, end - _LONGEST_ABOVE), end) + 1
    if not start and end >= _LONGEST_ABOVE:
        return -1
    found = above.match(text, start, end)
    return start if found is not None and end - found.end() <= _MOST_BEHIND else -1


@dataclass(frozen=True, slots=True)
class TagStart:
    """Right before a tag."""

    pattern: re.Pattern[str]
    cut: Cut = "block"

    def bind(self, text: str) -> BoundLevel:
        return _Before(text, self.pattern, self.cut, at_start=True)


class _Before(Scanned):
    """Matches that belong to the piece behind the boundary."""

    __slots__ = ()

    def last(self, low: int, high: int) -> Gap | None:
        gap = super().last(low, high)
        return None if gap is None else Gap(gap.end, gap.end)

    def first(self, low: int, high: int) -> Gap | None:
        gap = super().first(low, high)
        return None if gap is None else Gap(gap.end, gap.end)

    def first_start(self, low: int, high: int) -> int | None:
        gap = self.first(low - 1, high - 1)
        return None if gap is None else gap.end


class _Lines(Scanned):
    """Line ends that are judged by the lines behind them, as far as `_AHEAD`."""

    __slots__ = ()

    def _matches(self, start: int, stop: int) -> Iterator[re.Match[str]]:
        # Line end by line end: a search would go on to `ahead` for the next one that fits.
        text, judge, ahead = self._text, self._pattern.match, min(len(self._text), stop + _AHEAD)
        for line in NEWLINE.finditer(text, max(0, start - 1), stop + 2):
            if line.start() > stop:
                return
            if (found := judge(text, line.start(), ahead)) is not None:
                yield found


def _lines(words: str, cut: Cut, *, indent: str = "", above: str = "", flags: re.RegexFlag = re.NOFLAG) -> LineStart:
    """Before lines that start with `words` (a regular expression) behind `indent`, and the lines `above` them."""
    pattern = compile_pattern(rf"(?:\r\n?|\n)(?={_chain(above)}{indent}(?:{words}))", flags)
    return LineStart(pattern, cut, compile_pattern(rf"[ \t]{{0,80}}+(?:{above})") if above else None)


def _chain(above: str) -> str:
    return rf"(?:[ \t]{{0,80}}+(?:{above})[^\r\n]{{0,{_MOST_BEHIND}}}+(?:\r\n?|\n)){{0,{MOST_ABOVE}}}+" if above else ""


@dataclass(frozen=True, slots=True)
class CodeLadder(Sequence[Level]):
    """Definitions in the first column, statements there, indented definitions and `/**`, blank lines, lines, words.

    `columns` finds the first two at once: its only group has matched where it is a statement. `indented` finds the
    third. A line that starts with `above` belongs to the one below it.
    """

    levels: tuple[Level, ...]
    columns: re.Pattern[str]
    indented: re.Pattern[str]
    above: re.Pattern[str]

    @overload
    def __getitem__(self, index: int) -> Level: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Level]: ...
    def __getitem__(self, index: int | slice) -> Level | Sequence[Level]:
        return self.levels[index]

    def __len__(self) -> int:
        return len(self.levels)


def _code(definitions: str, statements: str, *, above: str, fold: bool = False) -> CodeLadder:
    flags = re.IGNORECASE if fold else re.NOFLAG
    inner = rf"[ \t]{{1,200}}+(?:{definitions})"
    begins, finds = _chain(above) + inner, inner
    if _SLASHES in above:  # documentation, whatever it is about and however long its lines are
        begins += rf"|{_chain(f'(?!{_DOCUMENTED})(?:{above})')}[ \t]{{0,200}}+{_DOCUMENTED}"
        finds += rf"|[ \t]{{0,200}}+{_DOCUMENTED}"
    belongs = compile_pattern(rf"[ \t]{{0,80}}+(?:{above})")
    levels = (
        _lines(definitions, "definition", above=above, flags=flags),
        _lines(statements, "statement", above=above, flags=flags),
        LineStart(compile_pattern(rf"(?:\r\n?|\n)(?={begins})", flags), "definition", belongs),
        *_CODE_TAIL,
    )
    columns = compile_pattern(rf"\n(?:(?={definitions})|(?=({statements})))", flags)
    return CodeLadder(levels, columns, compile_pattern(rf"\n(?:{finds})", flags), belongs)


_CODE_TAIL: Ladder = (BlankLine(), Line(), Sentence(), Word(), Grapheme())
_SLASHES = r"//|/\*|\*"  # comments as in C
_ATTRIBUTES = rf"{_SLASHES}|@|\[\w|#\["
_HASH = r"#(?!!)"
_C_STATEMENTS = r"(?:if|for|while|do|switch|case|return|typedef|using|#\s*(?:if|include|define))\b"
_C_TYPES = (
    r"(?:static|inline|extern|const|constexpr|unsigned|signed|void|bool|char|short|int|long|float|double|size_t|auto"
    r"|struct|union|enum|class|namespace|template|public|private|protected|virtual|explicit|friend|operator|concept"
    r"|export|module)\b"
)
_JVM_MODIFIERS = (
    r"public|protected|private|static|final|abstract|synchronized|native|sealed|strictfp|default|class|interface|enum"
    r"|record|void|int|long|double|float|boolean|char|byte|short|String"
)
_JS_DEFINITIONS = r"(?:export|async|function\*?|class)\b"
_JS_STATEMENTS = r"(?:const|let|var|if|for|while|do|switch|case|default|try|return|import)\b"
_RUBY_STATEMENTS = r"(?:if|unless|while|until|for|do|begin|rescue|case|require|include|attr_\w+)\b"
_HTML_VOID = r"(?=[\s/>])"


def _tags(names: str) -> TagStart:
    return TagStart(compile_pattern(rf"<(?:{names}){_HTML_VOID}", re.IGNORECASE))


def _latex(commands: str, cut: Cut = "heading") -> LineStart:
    return _lines(rf"\\(?:{commands})\b", cut, indent=r"[ \t]*")


_LADDERS: dict[str, Ladder] = {
    "c": _code(_C_TYPES, _C_STATEMENTS, above=_SLASHES),
    "cpp": _code(_C_TYPES, _C_STATEMENTS, above=_ATTRIBUTES),
    "go": _code(
        r"(?:func|type)\b", r"(?:var|const|import|if|for|switch|case|select|go|defer|return)\b", above=_SLASHES
    ),
    "java": _code(rf"(?:{_JVM_MODIFIERS})\b", r"(?:if|for|while|do|switch|case|try|return)\b", above=_ATTRIBUTES),
    "kotlin": _code(
        r"(?:public|protected|private|internal|open|abstract|sealed|data|inline|suspend|override|companion|class"
        r"|interface|object|enum|fun|typealias)\b",
        r"(?:val|var|if|for|while|do|when|else|return|import)\b",
        above=_ATTRIBUTES,
    ),
    "js": _code(_JS_DEFINITIONS, _JS_STATEMENTS, above=_ATTRIBUTES),
    "ts": _code(
        rf"{_JS_DEFINITIONS}|(?:enum|interface|namespace|type|abstract|declare|module|public|private|protected)\b",
        _JS_STATEMENTS,
        above=_ATTRIBUTES,
    ),
    "php": _code(
        r"(?:function|class|interface|trait|enum|namespace|abstract|final|public|protected|private|static)\b",
        r"(?:if|for|foreach|while|do|switch|case|try|return|use|require|include)\b",
        above=rf"{_ATTRIBUTES}|#",
    ),
    "proto": _code(
        r"(?:message|service|enum|extend)\b", r"(?:option|import|syntax|package|rpc|oneof)\b", above=_SLASHES
    ),
    "python": _code(
        r"(?:class|def|async[ \t]+def)\b",
        r"(?:if|for|while|with|try|match|import|from)\b",
        above=rf"@|{_HASH}",
    ),
    "r": _code(
        r"(?:[\w.]+[ \t]*(?:<<?-|=)[ \t]*function|set(?:Class|Method|Generic|Validity)|R6Class)\b",
        r"(?:if|else|for|while|repeat|library|require|source|function)\b",
        above=_HASH,
    ),
    "rst": (
        _lines(r"(\S)\1{2,}[ \t]*\r?\n[^\r\n]+\r?\n\1+[ \t]*(?:[\r\n]|\Z)", "heading"),
        _lines(r"\S[^\r\n]*\r?\n([=\-~^\"'`*+#.:_])\1{2,}[ \t]*(?:[\r\n]|\Z)", "heading"),
        _lines(r"\.\.[ \t]", "block"),
        *TEXT_LADDER,
    ),
    "ruby": _code(r"(?:class|module|def)\b", _RUBY_STATEMENTS, above=_HASH),
    "rust": _code(
        r"(?:pub|fn|struct|enum|trait|impl|mod|union|unsafe|async|extern|macro_rules!|type)\b",
        r"(?:const|static|let|use|if|while|for|loop|match)\b",
        above=_ATTRIBUTES,
    ),
    "scala": _code(
        r"(?:class|object|trait|enum|def|case[ \t]+(?:class|object)|abstract|sealed|final|implicit|override|private"
        r"|protected|given|extension)\b",
        r"(?:val|var|lazy|if|for|while|match|case|import|type)\b",
        above=_ATTRIBUTES,
    ),
    "swift": _code(
        r"(?:func|class|struct|enum|protocol|extension|actor|init|public|private|fileprivate|internal|open|final|static"
        r"|override|mutating)\b",
        r"(?:if|for|while|do|switch|case|guard|let|var|import|return)\b",
        above=_ATTRIBUTES,
    ),
    "markdown": (
        _lines(r"#[ \t]", "heading"),
        _lines(r"##[ \t]", "heading"),
        _lines(r"#{3,6}[ \t]", "heading"),
        _lines(r"(?:\*[ \t]*){3,}(?:[\r\n]|\Z)|(?:-[ \t]*){3,}(?:[\r\n]|\Z)|(?:_[ \t]*){3,}(?:[\r\n]|\Z)", "block"),
        *TEXT_LADDER,
    ),
    "latex": (
        _latex(r"part|chapter"),
        _latex("section"),
        _latex("subsection"),
        _latex("subsubsection|paragraph"),
        _latex("begin", "block"),
        *TEXT_LADDER,
    ),
    "html": (
        _tags("html|head|body"),
        _tags("header|footer|main|nav|article|section|aside|div|table|ul|ol|dl|form|style|script"),
        _tags("h[1-6]|p|li|tr|dt|dd|blockquote|pre|figure|meta|title|link"),
        _tags("t[dh]|span|a|br|img|em|strong|b|i|code"),
        *TEXT_LADDER,
    ),
    "sol": _code(
        r"(?:contract|interface|library|abstract|function|constructor|modifier|struct|enum|event|error|receive|fallback)\b",
        r"(?:pragma|import|using|type|if|for|while|do|assembly|return|emit|require)\b",
        above=_SLASHES,
    ),
    "csharp": _code(
        r"(?:namespace|class|interface|enum|struct|record|delegate|event|abstract|public|protected|private|internal"
        r"|static|sealed|override|virtual|async|void)\b",
        r"(?:using|if|for|foreach|while|do|switch|case|else|try|catch|finally|throw|return|break|continue)\b",
        above=_ATTRIBUTES,
    ),
    "cobol": (
        _lines(r"[A-Z-]+[ \t]+DIVISION\b", "definition", indent=r"[ \t\d]{0,7}", flags=re.IGNORECASE),
        _lines(r"[A-Z0-9-]+[ \t]+SECTION\b", "definition", indent=r"[ \t\d]{0,7}", flags=re.IGNORECASE),
        _lines(r"[A-Z0-9][A-Z0-9-]*\.[ \t]*(?:[\r\n]|\Z)", "definition", indent=r"[ \t\d]{0,7}", flags=re.IGNORECASE),
        _lines(
            r"(?:OPEN|CLOSE|READ|WRITE|IF|ELSE|MOVE|PERFORM|UNTIL|VARYING|ACCEPT|DISPLAY|STOP|CALL|EVALUATE|COMPUTE)\b",
            "statement",
            indent=r"[ \t\d]*",
            flags=re.IGNORECASE,
        ),
        *_CODE_TAIL,
    ),
    "lua": _code(r"(?:local[ \t]+function|function)\b", r"(?:local|if|for|while|repeat|return)\b", above="--"),
    "perl": _code(
        r"(?:package|sub)\b",
        r"(?:use|require|my|our|local|if|unless|while|until|for|foreach|do|return|BEGIN|END|=\w+)\b",
        above=_HASH,
    ),
    "haskell": _code(
        r"(?:module|data|newtype|type|class|instance|deriving|[a-z_][\w']*[ \t]*::)",
        r"(?:import|infix[lr]?|where|let|in|do|case|main)\b",
        above=r"--|\{-",
    ),
    "elixir": _code(
        r"(?:defmodule|defprotocol|defimpl|defmacrop?|defguardp?|defstruct|defp?|test|describe)\b",
        r"(?:if|unless|case|cond|with|for|do|import|alias|use|require)\b",
        above=rf"{_HASH}|@\w",
    ),
    "powershell": _code(
        r"(?:function|filter|class|enum|workflow|configuration)\b",
        r"(?:param|if|elseif|else|foreach|for|while|do|switch|try|catch|finally|return|begin|process|end|\$\w+)\b",
        above=rf"{_HASH}|<#|\[\w",
        fold=True,
    ),
}

LANGUAGES: Mapping[str, Ladder] = MappingProxyType(_LADDERS)
"""The ladder of each language, coarsest first, ending in grapheme clusters."""

MARKUP = frozenset({"markdown", "latex", "html", "rst"})
"""The languages whose text is prose."""

CODE_ATOMS: Ladder = (Line(), Word())
"""What overlap is made of in code."""

_SUFFIXES: Mapping[str, str] = MappingProxyType(
    {
        suffix: language
        for language, suffixes in {
            "c": "c h",
            "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp cu cuh ino",
            "go": "go",
            "java": "java",
            "kotlin": "kt kts",
            "js": "js mjs cjs jsx",
            "ts": "ts mts cts tsx",
            "php": "php phtml",
            "proto": "proto",
            "python": "py pyi pyw",
            "r": "r",
            "rst": "rst",
            "ruby": "rb rake gemspec",
            "rust": "rs",
            "scala": "scala sc",
            "swift": "swift",
            "sol": "sol",
            "csharp": "cs csx",
            "cobol": "cob cbl cpy",
            "lua": "lua",
            "perl": "pl pm",
            "haskell": "hs lhs",
            "elixir": "ex exs",
            "powershell": "ps1 psm1 psd1",
        }.items()
        for suffix in suffixes.split()
    }
)


def language_of(suffix: str) -> str | None:
    """The language of files whose name ends in `suffix` (lower case, without the dot), if it is source text."""
    return _SUFFIXES.get(suffix)
