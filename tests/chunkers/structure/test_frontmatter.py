"""Front matter: what counts as such, what is read from it, and that nothing in it can hurt."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.structure.frontmatter import read_front_matter
from chunkers.structure.plainyaml import load_plain


@pytest.mark.parametrize(
    ("text", "inside", "rest"),
    [
        ("---\ntitle: x\n# c\n---\n# y\n", "title: x\n# c\n", "# y\n"),
        ("---\ntitle: x\n...\n# y\n", "title: x\n", "# y\n"),
        ("---\r\na: 1\r\n---\r\nb", "a: 1\r\n", "b"),
        ("---\ra: 1\r---\rb", "a: 1\r", "b"),
        ("--- \na: 1\n---\t\nb", "a: 1\n", "b"),
        ("---\na: 1\n---", "a: 1\n", ""),
        ("+++\na = 1\n+++\nb", "a = 1\n", "b"),
        ("+++\na = 1\n---\n+++\nb", "a = 1\n---\n", "b"),
        ("---\na: |\n  ```\n```\n---\n```\n---\nb", "a: |\n  ```\n```\n---\n```\n", "b"),
        ("---\n---\nb", "", "b"),
    ],
)
def test_front_matter_goes_to_its_closing_line(text: str, inside: str, rest: str) -> None:
    found = read_front_matter(text)
    assert found is not None
    assert (text[found.body : found.tail], text[found.end :]) == (inside, rest)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "---\n",
        "---\n\ntitle: x\n---\n",
        "---\n  \ntitle: x\n---\n",
        "---\ntitle: x\n",
        "---\ntitle: x\n----\n",
        "---\ntitle: x\n ---\n",
        "\n---\ntitle: x\n---\n",
        "----\ntitle: x\n---\n",
        "--- x\ntitle: x\n---\n",
        "---\ntitle: x\n```\n---\n",
        "+++\na = 1\n---\n",
    ],
)
def test_no_front_matter(text: str) -> None:
    assert read_front_matter(text) is None


def metadata(source: str, mark: str = "---") -> Any:
    found = read_front_matter(f"{mark}\n{source}\n{mark}\nbody\n")
    assert found is not None
    return dict(found.metadata) if found.note is None else found.note


def test_values_become_flat() -> None:
    source = "s: text\ni: 3\nf: 2.5\nb: true\nn: null\nd: 2024-05-06\nt: 2024-05-06 07:08:09\nl: [a, 1, {k: v}]\nm: {é: [2024-05-06]}\ninf: .inf\n1: x"
    assert metadata(source) == {
        "s": "text",
        "i": 3,
        "f": 2.5,
        "b": True,
        "d": "2024-05-06",
        "t": "2024-05-06T07:08:09",
        "l": '["a",1,{"k":"v"}]',
        "m": '{"é":["2024-05-06"]}',
        "inf": "inf",
        "1": "x",
    }


def test_toml_values_become_flat() -> None:
    assert metadata('title = "x"\ndate = 2024-05-06\ntags = ["a", "b"]\n[params]\nn = 1', "+++") == {
        "title": "x",
        "date": "2024-05-06",
        "tags": '["a","b"]',
        "params": '{"n":1}',
    }


def test_nothing_inside_is_no_metadata_and_no_note() -> None:
    assert metadata("# only a comment") == {}


@pytest.mark.parametrize(
    ("source", "mark", "note"),
    [
        ("a: [", "---", "not valid YAML"),
        ("a: b: c", "---", "not valid YAML"),
        ("just words", "---", "not a YAML mapping"),
        ("a: 2024-13-45", "---", "not valid YAML"),
        ("a: !!python/object/apply:os.system [x]", "---", "not valid YAML"),
        ("a: !!timestamp x", "---", "not valid YAML"),
        ("a = ", "+++", "not valid TOML"),
        ("a: &x [1]\nb: *x", "---", "aliases are not allowed"),
        ("a: " + "[" * 30_000, "---", "not valid YAML"),
        ("a: '" + "x" * 70_000 + "'", "---", "longer than 65536"),
    ],
)
def test_what_cannot_be_read_leaves_a_note(source: str, mark: str, note: str) -> None:
    assert note in metadata(source, mark)


def test_alias_bomb_is_refused() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
    assert "aliases are not allowed" in metadata(bomb)


PLAIN = [
    *("a: b", "b:", "  - x", "- y", "  c: d", "  e:", "    - z", "    f: 1", "q: 'it'", 'w: "x y"', "t: 2020-01-01"),
    *("d: 2024-02-29", "d: 2024-02-30", "d: 0000-01-01", "e: 2024-1-1", "- 2024-02-29", "on: x", "h: True", "h: tRue"),
    *("f: [a, b c,d/e-f.g ]", "f: []", 'f: ["x, [y]", true, null]', "- [a , 'b c']", "f: [a,]", "f: [a, 1]", "f: [ ] "),
    *("g: true ", "g: FALSE", "    - false", "i: [a]b", "i: [[a]]", "i: [a: b]", "i: [a #b]", "i: [y, No]", "j: 1-2"),
    *("u: yes", "title: A: b", "v: a #b", "k: a#b", " i: j", "l: - m", "m: [a]", "n: x: ", "o: *a", "p: a,b]{}`\"'"),
    *(
        "r: e1",
        "s: 0",
        "s: 007",
        "- a: b",
        "",
        "   g: h",
        "x: a:b",
        "y: é\u2028x",
        "z: null",
        "null: z",
        "aa: ~",
        "-  x",
    ),
]


@given(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=7))
@settings(max_examples=600, deadline=None)
def test_the_short_way_reads_what_the_full_parser_reads(lines: list[str]) -> None:
    source = "\n".join(lines) + "\n"
    short = load_plain(source)
    if short is not None:
        assert short == yaml.safe_load(source)


def test_the_short_way_takes_common_front_matter() -> None:
    source = 'title: Next\nnav: "a: b"\ndate: 2024-02-29\ndraft: false\ntags: [a, b c]\nrelated:\n  title: More\n  links:\n    - app/x\n    - app/y\ncount: 3\n'
    assert load_plain(source) == {
        "title": "Next",
        "nav": "a: b",
        "date": datetime.date(2024, 2, 29),
        "draft": False,
        "tags": ["a", "b c"],
        "related": {"title": "More", "links": ["app/x", "app/y"]},
        "count": 3,
    }
