"""Ladders of languages: what a cut falls before, and the short way of packing code against the general one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers import OptionWarning, build, chunk
from chunkers.cutting.languages import LANGUAGES, language_of
from chunkers.cutting.limits import Limit
from chunkers.cutting.packing import pack
from chunkers.errors import InvalidOption
from chunkers.strategies.recursive import Recursive, RecursiveOptions

# For each language a definition that fills a chunk, and what the next one starts with.
TWO = {
    "c": ("int first(void)\n{\n  return 1;\n}", "static int second(void)\n{\n  return 2;\n}"),
    "cobol": ("       DATA DIVISION.\n       FILE SECTION.", "       PROCEDURE DIVISION.\n           STOP RUN."),
    "cpp": ("namespace a {\nint x = 1;\n}", "template <typename T>\nT twice(T x) { return x + x; }"),
    "csharp": ("public class First\n{\n}", "// about it\n[Obsolete]\npublic class Second\n{\n}"),
    "elixir": ("defmodule First do\n  def a, do: 1\nend", "defmodule Second do\n  def b, do: 2\nend"),
    "go": ("func first() int {\n\treturn 1\n}", "// second is another.\nfunc second() int {\n\treturn 2\n}"),
    "haskell": ("first :: Int -> Int\nfirst x = x + 1", "-- | Another.\nsecond :: Int\nsecond = 2"),
    "html": ("<div><p>one</p><p>two</p></div>", "<div><p>three</p></div>"),
    "java": ("class First {\n  int x = 1;\n}", "/** Another. */\n@Deprecated\nclass Second {\n}"),
    "js": ("function first() {\n  return 1;\n}", "/**\n * Another.\n */\nexport function second() {}"),
    "kotlin": ("fun first(): Int {\n  return 1\n}", '@Suppress("x")\nfun second(): Int = 2'),
    "latex": ("\\section{One}\nSome text here.", "\\section{Two}\nMore of it."),
    "lua": ("function first()\n  return 1\nend", "-- another\nlocal function second() end"),
    "markdown": ("# One\n\nSome text here.", "# Two\n\nMore of it, and more."),
    "perl": ("sub first {\n  return 1;\n}", "# another\nsub second {\n  return 2;\n}"),
    "php": ("function first() {\n  return 1;\n}", "#[Attr]\nfunction second() {}"),
    "powershell": ("function First {\n  1\n}", "# another\nFUNCTION Second {\n  2\n}"),
    "proto": ("message First {\n  int32 x = 1;\n}", "// another\nmessage Second {\n}"),
    "python": ("def first(x):\n    return x + 1", "# about it\n@cached\ndef second(x):\n    return x"),
    "r": ("first <- function(x) {\n  x + 1\n}", "# another\nsecond <- function(x) {\n  x\n}"),
    "rst": ("One\n===\n\nSome text here.", "Two\n===\n\nMore of it, and more."),
    "ruby": ("def first\n  1\nend", "# another\ndef second\n  2\nend"),
    "rust": ("fn first() -> i32 {\n    1\n}", "/// Another.\n#[inline]\npub fn second() -> i32 {\n    2\n}"),
    "scala": ("def first(): Int = {\n  1\n}", "@deprecated\ndef second(): Int = 2"),
    "sol": ("contract First {\n  uint x;\n}", "/// Another.\ncontract Second {\n}"),
    "swift": ("func first() -> Int {\n  return 1\n}", "/// Another.\nfunc second() -> Int { 2 }"),
    "ts": ("interface First {\n  x: number;\n}", "// another\nexport type Second = string;"),
}
BITS = [
    "def f(x):",
    "class A:",
    "@dec",
    "# note",
    "    def g(self):",
    "        return x",
    "if x:",
    "import y",
    "\n",
    "\n",
]
BITS += [
    "\n",
    "\n\n",
    "    ",
    "\t",
    " ",
    "func a() {",
    "}",
    "// c",
    "const k = 1",
    "  \n",
    "  /** d",
    "   * e",
    "   */",
    "   * " + "long " * 50,
    "e\u0301",
    "\u0301",
    "“q”",
    "word",
    "# A",
    "## B ",
    "---",
    "  \\section{C}",
    "\\begin{x}",
    "<div>",
    " <P a=b>",
    "<td>",
    "One ends. Two starts",
    "é\u0301",
]
TEXTS = st.lists(st.sampled_from(BITS), max_size=60).map("".join)


def test_every_language_has_an_example_here() -> None:
    assert set(TWO) == set(LANGUAGES)


@pytest.mark.parametrize("language", sorted(TWO))
def test_a_cut_falls_before_a_definition_and_what_belongs_to_it(language: str) -> None:
    first, second = TWO[language]
    joint = "" if language == "html" else "\n\n"
    found = chunk(first + joint + second, "recursive", language=language, max_size=max(len(first), len(second)) + 3)
    assert [each.text for each in found] == [first, second]


def test_indentation_of_the_first_line_stays() -> None:
    text = "class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n"
    found = chunk(text, "recursive", language="python", max_size=50, overlap=0)
    assert [each.text for each in found] == [
        "class A:\n    def one(self):\n        return 1",
        "    def two(self):\n        return 2",
    ]
    assert found[1].start == text.index("    def two")


def test_a_line_longer_than_the_limit_is_cut_at_words() -> None:
    found = chunk("x = [" + "1234567, " * 20 + "]", "recursive", language="python", max_size=40, overlap=0)
    assert {each.cut for each in found[:-1]} == {"word"}


def test_the_language_wins_over_separators_with_a_warning() -> None:
    with pytest.warns(OptionWarning, match="language 'go' takes precedence over separators"):
        strategy = build("recursive", language="go", separators=["x"])
    assert [span[:2] for span in strategy.split("axb").spans] == [(0, 3)]


@pytest.mark.parametrize("options", [{"language": "pyton"}, {"language": "go", "separator_position": "end"}])
def test_what_a_language_cannot_be_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(InvalidOption):
        build("recursive", **options)


def test_files_are_known_by_their_suffix() -> None:
    assert [language_of(each) for each in ("py", "tsx", "hpp", "md", "")] == ["python", "ts", "cpp", None, None]


@settings(derandomize=True, database=None, max_examples=1000, deadline=None)
@given(
    TEXTS, st.sampled_from(["python", "go", "js", "markdown", "latex", "html"]), st.integers(2, 120), st.floats(0, 0.9)
)
def test_both_ways_of_packing_code_cut_the_same(text: str, language: str, most: int, share: float) -> None:
    strategy = Recursive(RecursiveOptions(language=language, max_size=most, overlap=int(most * share)))
    packing = strategy._packing
    limit = Limit(text, packing.bounds)
    general = pack(text, 0, len(text), packing.ladder, limit, trim=packing.trim, overlap=packing.overlap)
    assert packing.pack(text) == general


@pytest.mark.parametrize("language", ["markdown", "latex", "html"])
def test_both_ways_look_as_far_for_a_word_of_overlap_behind_spaces(language: str) -> None:
    text = f"| one{' ' * 400}|\n| {'two ' * 90}|\n" * 3
    strategy = Recursive(RecursiveOptions(language=language, max_size=420, overlap=50))
    packing = strategy._packing
    general = pack(
        text, 0, len(text), packing.ladder, Limit(text, packing.bounds), trim=packing.trim, overlap=packing.overlap
    )
    assert packing.pack(text) == general


def test_a_tag_is_known_in_any_case() -> None:
    text = "<DIV>one two</DIV><di\u017f>three</di\u017f><\u017fection>four</\u017fection><sEcTiOn>five</sEcTiOn>"
    found = [piece.text for piece in chunk(text, "recursive", language="html", max_size=40, overlap=0)]
    assert found == [
        "<DIV>one two</DIV><di\u017f>three</di\u017f>",
        "<\u017fection>four</\u017fection>",
        "<sEcTiOn>five</sEcTiOn>",
    ]


def test_documentation_of_long_lines_stays_with_what_it_is_about() -> None:
    members = [f"  /**\n   * {'Returns it. ' * 25}\n   */\n  find{n}(key: string): number;" for n in range(3)]
    text = "interface A {\n" + "\n".join(members) + "\n}"
    found = [piece.text for piece in chunk(text, "recursive", language="ts", max_size=400, overlap=0)]
    assert found == ["interface A {\n" + members[0], members[1], members[2] + "\n}"]


def test_a_line_of_code_too_long_is_cut_between_its_sentences() -> None:
    text = "x = 1\n# " + "One comes here. Two comes behind it. " * 4
    found = [piece.text for piece in chunk(text, "recursive", language="python", max_size=80, overlap=0)]
    two = "One comes here. Two comes behind it. One comes here. Two comes behind it."
    assert found == ["x = 1", "# " + two, two]
