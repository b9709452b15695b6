"""Source code: definitions with their paths, in code points, and what parses badly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tree_sitter")

from chunkers.structure.code import read_code
from chunkers.structure.grammars import GRAMMARS

CASES = [
    case
    for case in json.loads((Path(__file__).parents[2] / "cases" / "structure.json").read_text("utf-8"))
    if case["kind"] == "code"
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_structure_case(case: dict[str, Any]) -> None:
    right = case["right"]
    source = read_code(case["input"], right["lang"], 4)
    found = source.definitions
    names = [".".join(each.path) for each in found]
    if "units" in right:
        assert [[name, each.start, each.end] for name, each in zip(names, found, strict=True)] == right["units"]
    if "units_contain" in right:
        assert set(right["units_contain"]) <= set(names)
    if "paths" in right:
        assert names == right["paths"]
    if "lead_comment" in right:
        assert found[0].lead == right["lead_comment"][0]


SAMPLES = {
    "python": ("@a\n@b\nclass A:\n    # c\n    def m(self):\n        pass\n", ["A", "A.m"]),
    "javascript": ("class A { f = () => 1; g() {} }\nvar h = function () {}\n", ["A", "A.f", "A.g", "h"]),
    "typescript": ("export abstract class A { abstract m(): void }\nexport enum E { x }\n", ["A", "A.m", "E"]),
    "tsx": ("export const V = () => <p>x</p>;\n", ["V"]),
    "go": ("type S struct {\n\ta int\n}\nfunc (s *S[T]) M() {}\nfunc F() {}\n", ["S", "S.M", "F"]),
    "java": ("@X class A { int m() { return 1; } }\nrecord R(int a) {}\n", ["A", "A.m", "R"]),
    "rust": ("#[x]\nstruct S;\nimpl<T> S<T> {\n    fn m() {}\n}\ntrait Q { fn n(); }\n", ["S", "S", "S.m", "Q", "Q.n"]),
    "c": ("struct s { int a; };\nint *f(void) { return 0; }\nstatic int g(int a) { return a; }\n", ["s", "f", "g"]),
    "cpp": ("namespace n {\nclass A { void m() {} };\n}\ntemplate <class T> T f(T a) { return a; }\nvoid A::k() {}\n", ["n", "n.A", "n.A.m", "f", "A.k"]),
    "csharp": ("namespace N { class A { int P { get; } A() {} void M() {} } }\n", ["N", "N.A", "N.A.P", "N.A.A", "N.A.M"]),
    "ruby": ("module M\n  class A\n    def m; end\n    def self.k; end\n  end\nend\n", ["M", "M.A", "M.A.m", "M.A.k"]),
    "php": ("<?php\nclass A { function m() {} }\nfunction f() {}\n", ["A", "A.m", "f"]),
    "bash": ("f() {\n  echo 1\n}\nfunction g {\n  echo 2\n}\n", ["f", "g"]),
}  # fmt: skip


@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_definitions_of_every_language(language: str) -> None:
    text, names = SAMPLES[language]
    source = read_code(text, language, 4)
    assert [".".join(each.path) for each in source.definitions] == names
    assert source.error is None


def test_offsets_are_code_points() -> None:
    text = "# 員工😀\ndef 函式():\n    return 1\n\n\ndef b():\n    pass\n"
    found = read_code(text, "python", 4).definitions
    assert [text[each.start : each.end] for each in found] == ["def 函式():\n    return 1", "def b():\n    pass"]
    assert [each.lead for each in found] == [0, text.index("def b")]


def test_what_is_no_code_is_not_trusted() -> None:
    assert not read_code("]]] ??? '" * 30, "go", 4).is_trusted


def test_a_parser_that_loses_itself_is_stopped() -> None:
    assert not read_code("<!-- " * 20_000, "python", 4000).is_trusted


def test_lines_that_end_with_a_carriage_return_alone_are_lines() -> None:
    text = "// one\nfunc a() {\n\tx()\n}\n\n// two\nfunc b() {\n\ty()\n}\n"
    assert read_code(text.replace("\n", "\r"), "go", 10) == read_code(text, "go", 10)
    assert read_code(text, "go", 10).definitions
