"""`semantic-markdown`: which sections are merged, and what their chunks are told."""

from __future__ import annotations

from typing import Any

import pytest

from chunkers import OptionError, SpecialTokenFound, build, chunk
from tests.laws.measuring import tokens

HANDBOOK = "# Handbook\n\nHello.\n\n## Leave\n\nTwenty days.\n\n### Illness\n\nCall us.\n\n## Pay\n\nMonthly.\n\n# Annex\n\nTables.\n"


def texts(text: str, **options: Any) -> list[str]:
    return [piece.text for piece in chunk(text, "semantic-markdown", **options)]


def test_a_heading_without_text_goes_with_the_first_section_below_it() -> None:
    text = "# A\nword word\n\n## B\n\n### C\nword word word word\n\n### D\n\n## E\n"
    assert texts(text, join_threshold=9) == ["# A\nword word", "## B\n\n### C\nword word word word", "### D", "## E"]
    assert texts(text, join_threshold=1) == ["# A\nword word", "## B\n\n### C\nword word word word", "### D", "## E"]


def test_no_chunk_ends_inside_a_heading() -> None:
    text = "# make install\n\nGetting Help\n------------\n\nTo get help with the tool, execute this\n"
    first = "# make install\n\nGetting Help\n------------\n\nTo get help with the tool,"
    assert texts(text, max_size=80, overlap=0) == [first, "execute this"]


@pytest.mark.parametrize(
    ("threshold", "firsts"),
    [
        (1, ["# Handbook", "## Leave", "### Illness", "## Pay", "# Annex"]),
        (14, ["# Handbook", "## Leave", "## Pay", "# Annex"]),
        (500, ["# Handbook"]),
    ],
)
def test_deepest_sections_are_merged_first(threshold: int, firsts: list[str]) -> None:
    assert [piece.split("\n")[0] for piece in texts(HANDBOOK, join_threshold=threshold)] == firsts


def test_token_counts_and_heading_paths() -> None:
    found = chunk(HANDBOOK, "semantic-markdown", join_threshold=14)
    assert [(list(piece.headings), piece.token_count) for piece in found] == [
        (["Handbook"], tokens()(found[0].text)),
        (["Handbook", "Leave"], tokens()(found[1].text)),
        (["Handbook", "Pay"], tokens()(found[2].text)),
        (["Annex"], tokens()(found[3].text)),
    ]
    assert [piece.metadata["token_count"] for piece in found] == [piece.token_count for piece in found]


def test_merging_keeps_max_size() -> None:
    assert max(map(len, texts(HANDBOOK, max_size=45))) <= 45
    assert texts(HANDBOOK, max_size=45)[:2] == [
        "# Handbook\n\nHello.\n\n## Leave\n\nTwenty days.",
        "### Illness\n\nCall us.",
    ]


def test_a_large_section_is_whole_unless_max_size_says_otherwise() -> None:
    text = "# A\n\n" + "One more sentence. " * 300
    assert [len(piece) for piece in texts(text)] == [len(text.rstrip())]
    assert max(len(piece) for piece in texts(text, max_size=300)) <= 300


def test_front_matter_and_text_before_the_first_heading() -> None:
    made = build("semantic-markdown", join_threshold=1).split("---\ntitle: T\n---\nintro\n\n# A\n\nbody\n")
    assert [(span.start, span.headings) for span in made.spans] == [(17, ()), (24, ("A",))]
    assert (made.metadata, made.title) == ({"title": "T"}, "T")


def test_encodings_are_always_read() -> None:
    assert build("semantic-markdown", encoding_name="gpt2").options.tokenizer.name == "gpt2"  # type: ignore[attr-defined]
    assert build("semantic-markdown", model_name="gpt-4o").options.tokenizer.name == "o200k_base"  # type: ignore[attr-defined]


def test_special_tokens() -> None:
    text = "# A\n\n<|endoftext|> x\n"
    assert chunk(text, "semantic-markdown")[0].token_count == 11
    assert chunk(text, "semantic-markdown", allowed_special="all")[0].token_count == 5
    with pytest.raises(SpecialTokenFound):
        chunk(text, "semantic-markdown", disallowed_special="all")


@pytest.mark.parametrize("options", [{"join_threshold": 0}, {"join_threshold": "9"}, {"allowed_special": ["<|no|>"]}])
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(options))):
        build("semantic-markdown", **options)
