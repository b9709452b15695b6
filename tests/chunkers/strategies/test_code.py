"""`code`: definitions stay whole where they fit, and what cannot be parsed is cut all the same."""

from __future__ import annotations

import pytest

pytest.importorskip("tree_sitter")

from chunkers import InvalidOption, MissingEngine, build, chunk
from chunkers.cutting.packing import Packer
from chunkers.strategies import code
from chunkers.structure import grammars

TEXT = '''import os


# says it
@cached
def first(a):
    """Doc."""
    return a


class Second:
    x = 1

    def method(self):
        return self.x

    def other(self):
        return 2
'''


def pieces(text: str, **options: object) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(piece.text, piece.cut, piece.headings) for piece in chunk(text, "code", **{"overlap": 0, **options})]


def test_definitions_are_whole_with_what_belongs_to_them_and_their_path() -> None:
    assert pieces(TEXT, language="python", max_size=80) == [
        ('import os\n\n\n# says it\n@cached\ndef first(a):\n    """Doc."""\n    return a', "definition", ()),
        ("class Second:\n    x = 1\n\n    def method(self):\n        return self.x", "definition", ("Second",)),
        ("    def other(self):\n        return 2", "document-end", ("Second", "other")),
    ]


def test_a_definition_that_is_alone_in_its_chunk_is_its_path() -> None:
    assert [headings for _, _, headings in pieces(TEXT, language="python", max_size=70)] == [
        (),
        ("first",),
        ("Second",),
        ("Second", "other"),
    ]


def test_small_neighbours_are_packed() -> None:
    assert [cut for _, cut, _ in pieces(TEXT, path="a.py", max_size=1000)] == ["document-end"]
    assert [text.count("def ") for text, _, _ in pieces(TEXT, path="a.py", max_size=110)] == [1, 2]


def test_the_path_tells_the_language_and_unknown_ones_are_noted() -> None:
    assert build("code").split("fun f() {}", path="a.kt").notes == ("no grammar for .kt files",)
    assert build("code").split("text").notes == ("the language is not known",)
    assert build("code").split("def f(: pass\n", path="a.py").notes == ("syntax error",)
    assert build("code").split("]]] ??? '" * 20, path="a.go").notes == ("does not parse; cut by the language's ladder",)


def test_a_missing_grammar_is_an_error_when_the_strategy_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    found = grammars.importlib.util.find_spec
    monkeypatch.setattr(
        grammars.importlib.util, "find_spec", lambda name: None if name == "tree_sitter_go" else found(name)
    )
    message = "strategy 'code' needs tree-sitter-go, not installed here: pip install 'rechunk[code]'"
    for options in ({}, {"language": "go"}):
        with pytest.raises(MissingEngine) as caught:
            build("code", **options)
        assert str(caught.value) == message
    build("code", language="python")


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(InvalidOption, match="language is 'klingon'; language must be one of bash, c, c-sharp"):
        build("code", language="klingon")


@pytest.mark.parametrize("options", [{"overlap": 0}, {"overlap": 20}, {"max_size": 60, "overlap": 15}])
def test_chunks_along_known_boundaries_are_those_of_the_packer(
    options: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    strategy = build("code", language="python", **{"max_size": 120, **options})
    text = TEXT.replace("Second", "Zweite") * 20
    made = strategy.split(text)

    def general(packer: Packer, levels: object, floors: object, *, by_lines: bool) -> object:
        return packer.run(0)[0]

    monkeypatch.setattr(code, "pack_along", general)
    assert strategy.split(text) == made
