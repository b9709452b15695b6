"""The line patterns of Markdown (CommonMark 0.31, GFM tables, footnotes, `:::` containers, `$$` math, MDX).

Every pattern expects lines that end in `\\n` (see `scanner.normalise`) and runs in linear time: repetitions that could
be matched in two ways are possessive.
"""

from __future__ import annotations

import re
from functools import lru_cache

from chunkers.text.patterns import compile_pattern

# What a line may start with after its indentation. Group names are one letter because `lastgroup` is the dispatch:
#   h ATX heading   f fence   q quote   s "===" line   c ":::"   d a line of only "-", "|", ":" that starts with "-"
#   t the same starting with "|" or ":"   r rule of * or _   b list item   l "<"   k "["   m "$$"
_STARTS = r"""
    (?P<h>\#{1,6}+(?=[ \t\n]))
  | (?P<f>`{3,}+(?=[^`\n]*\n)|~{3,}+)
  | (?P<q>>)
  | (?P<s>=++(?=[ \t]*\n))
  | (?P<c>:{3,}+)
  | (?P<d>-(?=[-|:\ \t]*\n))
  | (?P<t>[|:](?=[-|:\ \t]*\n))
  | (?P<r>(?:(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)(?=\n))
  | (?P<b>(?:[-+*]|[0-9]{1,9}+[.)])(?=[ \t\n]))
  | (?P<l><(?=[A-Za-z/!?]))
  | (?P<k>\[)
  | (?P<m>\$\$)
"""
_MDX_STARTS = (
    _STARTS.replace("(?P<l><(?=[A-Za-z/!?]))", "(?P<l><(?=[A-Za-z/!>]))")
    + r"""
  | (?P<x>\{)
  | (?P<e>(?:import|export)(?=[ \t{*'"]))
"""
)
# i: indented by four columns or more (and not blank)
_INDENTED = r"(?P<i>(?:\ {4}|\ {0,3}\t)[ \t]*+(?!\n))"

START = compile_pattern(_STARTS, re.VERBOSE)
LINE = compile_pattern(rf"{_INDENTED}|\ {{0,3}}(?:{_STARTS})", re.VERBOSE)
JUMP = compile_pattern(rf"\n(?:\ {{0,3}}(?:{_STARTS})|{_INDENTED})", re.VERBOSE)
"""The next line that may be more than paragraph text. Starts with a literal, so the search between is a memchr."""

# What decides where headings are (see `outline`). In the first column: ATX headings, fences, tags, underlines, math and
# ":::" containers; the same indented by one to three columns; fences inside containers. Alternatives start with a
# character and there are no groups, so that other lines are passed by quickly: what was found, its character tells.
# Of an ATX heading that is the whole line.
_CONTAINED_FENCE = r"[ \t>*+\-0-9.)]*+(?:\[\^[^\] \n]++\]:[ \t>*+\-0-9.)]*+)*+(?:```|~~~)"
_OUTLINE = rf"""
    \#\#{{0,5}}+(?=[ \t\n])[^\n]*+
  | `{{3,}}+(?=[^`\n]*\n)
  | ~{{3,}}+
  | <[A-Za-z/!?]
  | ==*+(?=[ \t]*\n)
  | -(?:-*+(?=[ \t]*\n)|{_CONTAINED_FENCE})
  | \ \ {{0,2}}+(?:\#\#{{0,5}}+[ \t\n]|<[A-Za-z/!?]|==*+[ \t]*\n|--*+[ \t]*\n|\$\$|:::)
  | [ \t>*+0-9]{_CONTAINED_FENCE}
  | \[\^[^\] \n]++\]:{_CONTAINED_FENCE}
  | \$\$
  | :::
"""
OUTLINE_LINE = compile_pattern(_OUTLINE, re.VERBOSE)
OUTLINE_JUMP = compile_pattern(rf"\n(?=[\#`~<=\-\ $:\t>*+0-9\[])(?:{_OUTLINE})", re.VERBOSE)

# A fence that only spaces stand before, on all its lines as many at least, without a line in it that could be one.
INDENTED_FENCE = compile_pattern(r"(\ ++)```[^`\n]*+\n(?:\1(?!\ *(?:```|~~~))[^\n]*+\n|\ *+\n)*+\1```\ *+\n")
# The same where every line has the mark of a quote before it.
QUOTED_FENCE = compile_pattern(r"(>\ ?)```[^`\n]*+\n(?:>(?!\ *(?:```|~~~))[^\n]*+\n)*+\1```\ *+\n")

MDX_START = compile_pattern(_MDX_STARTS, re.VERBOSE)
MDX_LINE = compile_pattern(rf"[ \t]*+(?:{_MDX_STARTS})", re.VERBOSE)
MDX_JUMP = compile_pattern(rf"\n[ \t]*+(?:{_MDX_STARTS})", re.VERBOSE)

# A run of plain lines inside lists: an optional item marker, text, the lines that continue its paragraph wherever they
# stand, blank lines. Anything that could be more than text is left out, links at the start of a line are let in.
_UNNAMED = compile_pattern(r"\?P<\w>")
_MARKER = r"(?:[-+*]|[0-9]{1,9}+[.)])"
# How the items of a plain list start, and how many columns in their content surely is, by what comes first.
_LISTS = {
    **{mark + " ": (rf"\{mark}\ (?!\ )", 2) for mark in "-*+"},
    **{mark + "  ": (rf"\{mark}\ {{2,3}}(?!\ )", 4) for mark in "-*+"},
    **{delimiter: (rf"[0-9]{{1,2}}\{delimiter}\ (?!\ )", 4) for delimiter in ".)"},
}
_NO_LABEL = r"(?!\[(?:[^\[\]\\\n]|\\[^\n])*+(?:\[|\](?!:)))"


def _plain_text(starts: str) -> str:
    starts = starts.replace(r"(?P<k>\[)", rf"(?P<k>{_NO_LABEL}\[)").replace(r"(?P<l><", r"(?P<l><(?!https?:)")
    easy = r"[^\ \t\n\#`~>=:\-|*_+0-9<\[${ei]"  # no alternative of `starts` starts with one of these
    return rf"(?:{easy}|(?!{_UNNAMED.sub('?:', starts)})[^\ \t\n])[^\n]*+\n"


def _plain_run(starts: str) -> re.Pattern[str]:
    text = _plain_text(starts)
    return compile_pattern(
        rf"(\ *+)(?:({_MARKER})(\ {{1,4}}+))?+({text}(?:[\ \t]*+{text})*+)((?:[\ \t]*+\n)*+)", re.VERBOSE
    )


@lru_cache(maxsize=64)
def list_run(first: str, indent: int, is_mdx: bool) -> re.Pattern[str] | None:
    """As much of a list as is plain, by the first characters of its items and their indentation."""
    if first not in _LISTS:
        return None
    marker, width = _LISTS[first]
    text = _plain_text(_MDX_STARTS if is_mdx else _STARTS)
    item = rf"\ {{{indent}}}{marker}{text}"
    inner = rf"\ {{{indent + width},}}+(?:{_MARKER}\ {{1,4}}+)"
    return compile_pattern(
        rf"{item}(?:{item}|[\ \t]*+{text}|{inner}{text}|(?:[\ \t]*+\n)++(?:{item}|{inner}?+{text}))*+", re.VERBOSE
    )


@lru_cache(maxsize=64)
def list_item(first: str, indent: int) -> re.Pattern[str]:
    """The start of an item of such a list, with the line end before it."""
    return compile_pattern(rf"\n\ {{{indent}}}{_LISTS[first][0]}", re.VERBOSE)


def _quote_run(starts: str) -> re.Pattern[str]:
    text = _plain_text(starts)
    return compile_pattern(
        rf"(?:>\ *+(?:{_MARKER}\ {{1,4}}+)?+{text}(?:\ *+{text})*+|>[\ \t]*+\n)++(?=[\ \t]*+(?:\n|\Z))", re.VERBOSE
    )


PLAIN_RUN = _plain_run(_STARTS)
MDX_PLAIN_RUN = _plain_run(_MDX_STARTS)
QUOTE_RUN = _quote_run(_STARTS)
MDX_QUOTE_RUN = _quote_run(_MDX_STARTS)
LIST_MAY_GO_ON = compile_pattern(r"[ \t]|(?:[-+*]|[0-9]{1,9}[.)])[ \t\n]")
LIST_ENDS = compile_pattern(r"\#{1,6}[ \t\n]|```[^`\n]*\n|~~~")

SPACE = compile_pattern(r"[ \t]*+")
BLANK_LINES = compile_pattern(r"(?:[ \t]*+\n)*+")
ORDERED_ITEM = compile_pattern(r"[0-9]{1,2}[.)] ")
BREAK = compile_pattern(r"\n\n(?!(?:[-+*]|[0-9]{1,9}[.)])[ \t\n])[^ \t\n]")
BLANK_LINE = compile_pattern(r"\n[ \t]*+\n")
DASH_RULE = compile_pattern(r"(?:-[ \t]*+){3,}+\n")
DASH_UNDERLINE = compile_pattern(r"-++[ \t]*+\n")
CODE_LINES = compile_pattern(r"(?:(?:[ \t]*+\n)*+(?: {4}| {0,3}\t)[ \t]*+[^ \t\n][^\n]*+\n)++")
FENCE_CLOSE = {
    "`": compile_pattern(r"\n {0,3}(`{3,}+)[ \t]*+(?=\n)"),
    "~": compile_pattern(r"\n {0,3}(~{3,}+)[ \t]*+(?=\n)"),
}
MDX_FENCE_CLOSE = {
    "`": compile_pattern(r"\n[ \t]*+(`{3,}+)[ \t]*+(?=\n)"),
    "~": compile_pattern(r"\n[ \t]*+(~{3,}+)[ \t]*+(?=\n)"),
}
NESTED_FENCE_CLOSE = {
    "`": compile_pattern(r"\n[ \t>]*+(`{3,}+)[ \t]*+(?=\n)"),
    "~": compile_pattern(r"\n[ \t>]*+(~{3,}+)[ \t]*+(?=\n)"),
}
BOX_OPEN = compile_pattern(r":{3,}+[ \t]*+[^:\s][^\n]*+\n")
BOX_CLOSE = compile_pattern(r"(:{3,}+)[ \t]*+\n")
FOOTNOTE = compile_pattern(r"\[\^[^\] \n]++\]:")
MATH_CLOSE = compile_pattern(r"\$\$[ \t]*+\n")

# Link definitions. Continuation lines of a label or title are never blank.
_BREAK = r"\\?\n(?![ \t]*+\n)"
DEFINITION = compile_pattern(
    rf"\[(?P<label>(?:[^\[\]\\\n]|\\[^\n]|{_BREAK})++)\]:[ \t]*+(?:\n[ \t]*+)?"
    r"(?P<dest><(?:[^<>\\\n]|\\[^\n])*+>|(?!<)[^\x01-\x20\x7f]++)"
)
DEFINITION_TITLE = compile_pattern(
    rf"""(?=[ \t\n])[ \t]*+(?:\n[ \t]*+)?(?:"(?:[^"\\\n]|\\[^\n]|{_BREAK})*+"|'(?:[^'\\\n]|\\[^\n]|{_BREAK})*+'"""
    rf"""|\((?:[^()\\\n]|\\[^\n]|{_BREAK})*+\))[ \t]*+\n"""
)
REST_BLANK = compile_pattern(r"[ \t]*+\n")

# HTML blocks: groups a-f are CommonMark's kinds 1-6, TAG_LINE is kind 7.
_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
HTML_NAMES = frozenset(_NAMES.replace("h[1-6]", "h1|h2|h3|h4|h5|h6").split("|"))
HTML_VERBATIM = frozenset(("script", "pre", "style", "textarea"))
HTML_TAG = compile_pattern(r"<(/?)([A-Za-z][A-Za-z0-9]*+)(\s|/?>)", re.ASCII)
HTML_MARK = compile_pattern(r"<(?:(?P<b>!--)|(?P<c>\?)|(?P<d>![A-Za-z])|(?P<e>!\[(?i:CDATA)\[))")
HTML_CLOSE = {
    "a": compile_pattern(r"</(?:script|pre|style|textarea)>", re.IGNORECASE | re.ASCII),
    "b": compile_pattern(r"-->"),
    "c": compile_pattern(r"\?>"),
    "d": compile_pattern(r">"),
    "e": compile_pattern(r"\]\]>"),
}
_VALUE = r"""(?:[^"'=<>`\x00-\x20]++|'[^'\n]*+'|"[^"\n]*+")"""
_ATTRIBUTE = rf"(?:[^\S\n]++[a-zA-Z_:][a-zA-Z0-9:._-]*+(?:[^\S\n]*+=[^\S\n]*+{_VALUE})?+)"
TAG_LINE = compile_pattern(
    rf"<(?:[A-Za-z][A-Za-z0-9-]*+{_ATTRIBUTE}*+[^\S\n]*+/?>|/[A-Za-z][A-Za-z0-9-]*+[^\S\n]*+>)[^\S\n]*+\n"
)

# What ends a table, and what a link definition never goes on over.
_INTERRUPTS = rf"""\#{{1,6}}+[ \t\n]|`{{3,}}+[^`\n]*\n|~~~|>
  |(?:(?:\*[ \t]*+){{3,}}+|(?:_[ \t]*+){{3,}}+|(?:-[ \t]*+){{3,}}+)\n
  |<(?:(?i:script|pre|style|textarea)[\s>]|!--|\?|![A-Za-z]|!\[CDATA\[|/?(?i:{_NAMES})(?:\s|/?>))|:::"""
_TABLE_STOP = rf"{_INTERRUPTS}|(?:[-+*]|[0-9]{{1,9}}[.)])[ \t\n]"
TABLE_STOP = compile_pattern(_TABLE_STOP, re.VERBOSE)
INTERRUPT = compile_pattern(rf"\ {{0,3}}(?:{_TABLE_STOP}|\[\^[^\] \n]++\]:)", re.VERBOSE)
TABLE_ROWS = compile_pattern(
    rf"(?:(?![ \t]*+\n|\ {{4}}|\ {{0,3}}\t|\ {{0,3}}(?:{_TABLE_STOP}))[^\n]*+\n)*+",
    re.VERBOSE,
)

# MDX: the pieces that matter while looking for the end of a `{…}` expression or a tag.
MDX_TOKEN = compile_pattern(
    r"""(?P<open>\{)|(?P<close>\})|(?P<end>>)|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`?"""
    r"""|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?""",
    re.DOTALL,
)
