"""The ladders of programming and markup languages: before definitions, then statements, blank lines and lines.

All boundaries are zero-width and lie before the line (or the tag) that they are about; what belongs to a definition
and stands above it (decorators, attributes, comments) goes with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from chunkers.cutting.levels import TEXT_LADDER, BlankLine, Grapheme, Ladder, Line, Sentence, Word
from chunkers.cutting.marks import LineStart, MarkLadder, TagStart, chain_above, lines
from chunkers.records import Cut
from chunkers.text.patterns import compile_pattern

_DOCUMENTED = r"/\*\*(?!/)"


def _code(definitions: str, statements: str, *, above: str, fold: bool = False) -> MarkLadder:
    flags = re.IGNORECASE if fold else re.NOFLAG
    inner = rf"[ \t]{{1,200}}+(?:{definitions})"
    begins, finds = chain_above(above) + inner, inner
    if _SLASHES in above:  # documentation, whatever it is about and however long its lines are
        begins += rf"|{chain_above(f'(?!{_DOCUMENTED})(?:{above})')}[ \t]{{0,200}}+{_DOCUMENTED}"
        finds = rf"[ \t]{{0,200}}+(?:{_DOCUMENTED}|(?<=[ \t])(?:{definitions}))"
    belongs = compile_pattern(rf"[ \t]{{0,80}}+(?:{above})")
    levels = (
        lines(definitions, "definition", above=above, flags=flags),
        lines(statements, "statement", above=above, flags=flags),
        LineStart(compile_pattern(rf"(?:\r\n?|\n)(?={begins})", flags), "definition", belongs),
        *_CODE_TAIL,
    )
    columns = compile_pattern(rf"\n(?![\s}})])(?:(?={definitions})|(?=({statements})))", flags)  # most lines fail early
    return MarkLadder(
        levels,
        ("definition", "statement", "definition"),
        columns,
        (compile_pattern(rf"\n{finds}", flags),),
        (0, 1),
        belongs,
    )


def _markup(
    *levels: LineStart | TagStart,
    early: str | tuple[str, tuple[int, ...]],
    late: tuple[str, ...] = (),
    stand: bool = False,
) -> MarkLadder:
    finds, rungs = (early, tuple(range(len(levels)))) if isinstance(early, str) else early
    return MarkLadder(
        (*levels, *TEXT_LADDER),
        tuple(level.cut for level in levels),
        compile_pattern(finds),
        tuple(compile_pattern(each) for each in late),
        rungs=rungs,
        stand=stand,
        is_prose=True,
    )


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
_FOLDED = "\u017f\u212a\u0130\u0131"  # letters that re.IGNORECASE takes for s, k and i
_TAGS = (
    "html|head|body",
    "header|footer|main|nav|article|section|aside|div|table|ul|ol|dl|form|style|script",
    "h[1-6]|p|li|tr|dt|dd|blockquote|pre|figure|meta|title|link",
    "t[dh]|span|a|br|img|em|strong|b|i|code",
)
_RULES = r"(?:\*[ \t]*){3,}(?:[\r\n]|\Z)|(?:-[ \t]*){3,}(?:[\r\n]|\Z)|(?:_[ \t]*){3,}(?:[\r\n]|\Z)"


def _tags(names: str) -> TagStart:
    return TagStart(compile_pattern(rf"<(?:{names}){_HTML_VOID}", re.IGNORECASE))


def _tag_marks(*levels: str) -> tuple[str, tuple[int, ...]]:
    """A pattern for the tags of several levels, and the level by the number of the last group that matched.

    It goes by the first letter, which is not left to re.IGNORECASE: a set of letters rules out most tags at once.
    """
    by_letter: dict[str, dict[int, list[str]]] = {}
    for level, names in enumerate(levels):
        for name in names.split("|"):
            by_letter.setdefault(name[0], {}).setdefault(level, []).append(name[1:])
    rungs, tags, letters = [0], [], ""
    for letter, rests_of in by_letter.items():
        ends = [rf"(?i:{'|'.join(rests)}){_HTML_VOID}()" for rests in rests_of.values()]
        cases = letter + letter.upper() + "".join(other for other in _FOLDED if re.match(letter, other, re.IGNORECASE))
        letters += cases
        rungs += rests_of
        tags.append(f"[{cases}](?:{'|'.join(ends)})")
    return f"<(?=[{letters}])(?:{'|'.join(tags)})", tuple(rungs)


def _latex(commands: str, cut: Cut = "heading") -> LineStart:
    return lines(rf"\\(?:{commands})\b", cut, indent=r"[ \t]*")


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
        lines(r"(\S)\1{2,}[ \t]*\r?\n[^\r\n]+\r?\n\1+[ \t]*(?:[\r\n]|\Z)", "heading"),
        lines(r"\S[^\r\n]*\r?\n([=\-~^\"'`*+#.:_])\1{2,}[ \t]*(?:[\r\n]|\Z)", "heading"),
        lines(r"\.\.[ \t]", "block"),
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
    "markdown": _markup(
        lines(r"#[ \t]", "heading"),
        lines(r"##[ \t]", "heading"),
        lines(r"#{3,6}[ \t]", "heading"),
        lines(_RULES, "block"),
        early=r"\n#(?:[ \t]|(#[ \t])|(#{2,5}[ \t]))",
        late=(rf"\n(?=[*\-_])(?={_RULES})",),
    ),
    "latex": _markup(
        _latex(r"part|chapter"),
        _latex("section"),
        _latex("subsection"),
        _latex("subsubsection|paragraph"),
        _latex("begin", "block"),
        early=r"\n[ \t]*+\\(?:(?:part|chapter)\b|(section\b)|(subsection\b)|(subsubsection\b|paragraph\b)|(begin\b))",
    ),
    "html": _markup(
        *(_tags(names) for names in _TAGS),
        early=_tag_marks(*_TAGS[:2]),
        late=(_tag_marks(_TAGS[2])[0], _tag_marks(_TAGS[3])[0]),
        stand=True,
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
        lines(r"[A-Z-]+[ \t]+DIVISION\b", "definition", indent=r"[ \t\d]{0,7}", flags=re.IGNORECASE),
        lines(r"[A-Z0-9-]+[ \t]+SECTION\b", "definition", indent=r"[ \t\d]{0,7}", flags=re.IGNORECASE),
        lines(r"[A-Z0-9][A-Z0-9-]*\.[ \t]*(?:[\r\n]|\Z)", "definition", indent=r"[ \t\d]{0,7}", flags=re.IGNORECASE),
        lines(
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
