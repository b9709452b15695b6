"""`context`: what a template puts in front of each chunk, and what that leaves for its text."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from chunkers import InertOption, InvalidOption, build, chunk

HANDBOOK = "# Handbook\n\nIntro.\n\n## Leave\n\nFirst. Second. Third. Fourth.\n\n### Sick\n\nStay home.\n"
TABLE = "# T\n\n| a | b |\n|---|---|\n" + "".join(f"| {n} | x |\n" for n in range(6))
STRUCTURED = ("markdown", "semantic-markdown", "html", "json", "latex", "legal", "faq", "code")


def shown(text: str, strategy: str, **options: Any) -> list[tuple[str, str, str]]:
    return [(each.context, each.text, each.cut) for each in chunk(text, strategy, **options)]


def contexts(text: str, strategy: str, **options: Any) -> list[str]:
    return [each.context for each in chunk(text, strategy, **options)]


def test_headings_stand_in_front_of_each_chunk_and_count() -> None:
    assert shown(HANDBOOK, "markdown", context="{headings}\n\n", max_size=48, overlap=0) == [
        ("Handbook\n\n", "# Handbook\n\nIntro.", "heading"),
        ("Handbook > Leave\n\n", "## Leave\n\nFirst. Second.", "sentence"),
        ("Handbook > Leave\n\n", "Third. Fourth.", "heading"),
        ("Leave > Sick\n\n", "### Sick\n\nStay home.", "document-end"),
    ]


def test_without_a_limit_nothing_is_cut_or_dropped_for_a_context() -> None:
    options = {"max_size": None, "headers": [["#", "h"], ["##", "s"], ["###", "t"]], "strip_headers": False}
    plain = build("markdown", **options).split(HANDBOOK).spans
    templated = build("markdown", context="{headings}: ", **options).split(HANDBOOK).spans
    assert [span._replace(context="") for span in templated] == plain
    assert [span.context for span in templated] == [
        "Handbook: ",
        "Handbook > Leave: ",
        "Handbook > Leave > Sick: ",
    ]


def test_outermost_headings_go_until_the_context_takes_half() -> None:
    text = "# Aaaaaaaaaa\n\n## Bbbbbbbb\n\n### Cccc\n\nOne two three.\n"
    options = {"headers": [["#", "a"], ["##", "b"], ["###", "c"]], "overlap": 0, "context": "{headings}|"}
    assert [contexts(text, "markdown", max_size=size, **options)[0] for size in (56, 54, 32, 30, 10, 9)] == [
        "Bbbbbbbb > Cccc|",
        "Bbbbbbbb > Cccc|",
        "Bbbbbbbb > Cccc|",
        "Cccc|",
        "Cccc|",
        "",
    ]
    assert contexts(text, "markdown", max_size=58, **options) == ["Aaaaaaaaaa > Bbbbbbbb > Cccc|"]


def test_fields() -> None:
    text = "---\ntitle: Rules\nowner: people\nyear: 2026\ndraft: true\n---\n# Leave\n\nText.\n"
    template = "{title}/{headings}/{path}/{metadata[owner]}/{metadata[year]}/{metadata[draft]}/{metadata[none]}/{{x}} "
    assert contexts(text, "markdown", context=template, path="a/b.md") == [
        "Rules/Leave/a/b.md/people/2026/true//{x} ",
    ]


def test_what_the_strategy_found_wins_over_front_matter() -> None:
    text = "---\nh: front\n---\nBefore.\n\n# Found\n\nText.\n"
    assert contexts(text, "markdown", headers=[["#", "h"]], context="{metadata[h]}: ") == ["front: ", "Found: "]


def test_fields_that_are_all_empty_leave_no_separator() -> None:
    assert contexts("No heading.", "markdown", context="{title} | {headings}\n\n") == [""]
    assert contexts("No heading.", "markdown", context="{title} | {path}\n\n", path="x.md") == [" | x.md\n\n"]


def test_a_template_without_fields_is_the_same_everywhere() -> None:
    assert contexts(HANDBOOK, "markdown", context="passage: ", max_size=40, overlap=0) == ["passage: "] * 3


def test_braces_in_a_title_are_text() -> None:
    assert contexts("# {path}\n\nText.", "markdown", context="{headings}: ", path="x.md") == ["{path}: "]


def test_a_repeated_table_header_stays_behind_the_template() -> None:
    found = shown(TABLE, "markdown", context="{headings}: ", max_size=52, overlap=0)
    assert found == [
        ("T: ", "# T\n\n| a | b |\n|---|---|\n| 0 | x |\n| 1 | x |", "row"),
        ("T: | a | b |\n|---|---|\n", "| 2 | x |\n| 3 | x |\n| 4 | x |", "row"),
        ("T: | a | b |\n|---|---|\n", "| 5 | x |", "document-end"),
    ]


def test_overlap_and_start_index_are_those_of_the_smaller_chunks() -> None:
    options: dict[str, Any] = {"max_size": 40, "overlap": 10, "context": "{headings}\n\n", "add_start_index": True}
    found = chunk("# H\n\nOne one. Two two. Three three. Four four.", "markdown", **options)
    assert [(each.text, each.overlap, each.metadata["start_index"]) for each in found] == [
        ("# H\n\nOne one. Two two. Three three.", 0, 0),
        ("three. Four four.", 6, 29),
    ]


def test_json_has_no_headings_but_pointers() -> None:
    text = '{"a":{"b":["one","two","three"]},"c":"hello world"}'
    assert shown(text, "json", context="{path} {metadata[pointer]}: ", max_size=40, path="x.json") == [
        ("x.json /a/b: ", '{"a":{"b":["one","two"]}}', "item"),
        ("x.json /a/b: ", '{"a":{"b":["three"]}}', "item"),
        ("x.json : ", '{"c":"hello world"}', "document-end"),
    ]


def test_html_is_cut_again_where_its_context_has_no_room() -> None:
    text = "<h1>Guide</h1><p>One one one.</p><p>Two two two.</p>"
    assert shown(text, "html", max_size=30, overlap=0) == [
        ("", "One one one.\nTwo two two.", "document-end"),
    ]
    assert shown(text, "html", max_size=30, overlap=0, context="{title}: ") == [
        ("Guide: ", "One one one.", "block"),
        ("Guide: ", "Two two two.", "document-end"),
    ]


def test_articles_and_functions_have_contexts() -> None:
    law = "第一章 總則\n\n第一條 本法適用於全國。\n\n第二條 本法自公布日施行。\n"
    assert contexts(law, "legal", context="{headings} {metadata[article]}：") == [
        "第一章 總則 第一條：",
        "第一章 總則 第二條：",
    ]
    code = "class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n"
    found = contexts(code, "code", context="# {headings}\n", language="python", max_size=60, overlap=0)
    assert found[-1] == "# A > two\n"


def test_tokens_are_counted_with_the_context() -> None:
    plain = chunk("# One two\n\nThree four.", "semantic-markdown")
    found = chunk("# One two\n\nThree four.", "semantic-markdown", context="{headings}\n\n")
    assert [(each.token_count, each.metadata["token_count"]) for each in plain] == [(7, 7)]
    assert [(each.token_count, each.metadata["token_count"]) for each in found] == [(10, 10)]


@pytest.mark.parametrize(
    "template",
    [
        "{nope}",
        "{}",
        "{0}",
        "{title!r}",
        "{title:>9}",
        "{metadata}",
        "{metadata.key}",
        "{metadata[a][b]}",
        "{",
        "}",
        "",
        3,
    ],
)
@pytest.mark.parametrize("strategy", ["markdown", "json"])
def test_another_field_is_refused_with_what_is_allowed(strategy: str, template: Any) -> None:
    with pytest.raises(InvalidOption) as caught:
        build(strategy, context=template)
    assert caught.value.name == "context"
    assert "whose fields are {title}, {headings}, {path} and {metadata[key]}" in str(caught.value)


@pytest.mark.parametrize("strategy", ["recursive", "fixed", "sentence", "pages", "auto"])
def test_strategies_without_structure_do_not_read_it(strategy: str) -> None:
    with pytest.raises(InertOption, match="'context' does nothing"):
        build(strategy, context="{title}")


def test_auto_takes_it_per_type() -> None:
    strategy = build("auto", per_type={"markdown": {"context": "{headings}: "}})
    assert [each.context for each in strategy.split("# A\n\nText.", path="a.md").spans] == ["A: "]
    assert [each.context for each in strategy.split("# A\n\nText.", path="a.txt").spans] == [""]
    with pytest.raises(InvalidOption):
        build("auto", per_type={"markdown": {"context": "{nope}"}})


@pytest.mark.parametrize("name", STRUCTURED)
def test_a_strategy_with_a_context_is_still_that_strategy(name: str) -> None:
    plain, found = build(name), build(name, context="{title}: ")
    assert (found.name, found.version) == (plain.name, plain.version)
    assert found.options.context == "{title}: "  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(found)) == found


def test_templates_may_name_what_the_caller_knows_and_front_matter_knows_better() -> None:
    text = "---\nowner: me\n---\n# A\n\nb\n"
    options = {"metadata": {"src": "S", "owner": "you"}, "path": "a.md"}
    template = "{metadata[src]} {metadata[owner]} "
    assert [each.context for each in chunk(text, "markdown", context=template, **options)] == ["S me "]
    per_type = {"markdown": {"context": template}}
    assert [each.context for each in chunk(text, "auto", per_type=per_type, **options)] == ["S me "]
    assert chunk(text, "markdown", **options)[0].metadata == {"src": "S", "owner": "me"}


def test_the_headings_of_json_are_the_keys_above() -> None:
    text = '{"a/b":[{"id":0,"n":"' + "x" * 40 + '"},{"id":1}]}'
    found = chunk(text, "json", max_size=50, context="{headings}: ")
    assert [each.context for each in found] == ["a/b > 0: ", "a/b > 0 > n: ", "a/b > 0 > n: ", "a/b: "][: len(found)]
    assert len(found) > 2


def test_an_atom_of_fewer_tokens_behind_its_indentation_is_no_longer_oversize() -> None:
    """An emoji that is six tokens at a line's start, and five behind a space."""
    found = chunk("ab\n 👍🏽\ncd", "latex", max_size=40, overlap=0, max_tokens=5, context="x")
    assert [(each.context, each.text, each.cut) for each in found] == [
        ("x", "ab", "line"),
        ("", " 👍🏽", "grapheme"),
        ("x", "cd", "document-end"),
    ]
