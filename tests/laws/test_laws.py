"""The laws of chunking, for every strategy that `table` lists."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from chunkers import OptionError, UnknownOption, build, chunk
from tests.laws.generators import DOCUMENTS, PATHS
from tests.laws.measuring import tokens
from tests.laws.pathological import PATHOLOGICAL
from tests.laws.subjects import CORPUS, REGISTERED, SUBJECTS, documents, judge, named, split
from tests.laws.table import Listed, Options

SLOW_RANDOM = int(os.environ.get("RECHUNK_LAW_EXAMPLES", "2000"))
every_subject = pytest.mark.parametrize(("listed", "options"), SUBJECTS, ids=named)
every_strategy = pytest.mark.parametrize("listed", REGISTERED, ids=named)
every_strategy_of_text = pytest.mark.parametrize(
    "listed", [listed for listed in REGISTERED if listed.refuses is None and listed.path is None], ids=named
)
every_sized_strategy = pytest.mark.parametrize(
    "listed", [listed for listed in REGISTERED if listed.sizes is None], ids=named
)
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus; RECHUNK_CORPUS names its folder")


@every_subject
def test_random_documents(listed: Listed, options: Options) -> None:
    @settings(derandomize=True, database=None, max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
    @given(any_document(listed))
    def check(found: tuple[str, str | None]) -> None:
        document, path = found
        assert judge(listed, options, document, path) == []

    check()


@every_subject
def test_pathological_documents_in_small(listed: Listed, options: Options) -> None:
    """A sixth of them with each set of options, in turn."""
    some = list(PATHOLOGICAL.items())[listed.options.index(options) % 6 :: 6]
    assert {name: found for name, make in some if (found := judge(listed, options, make(150)))} == {}


@pytest.mark.slow
@every_subject
def test_all_pathological_documents_in_small(listed: Listed, options: Options) -> None:
    wrong = {name: found for name, make in PATHOLOGICAL.items() if (found := judge(listed, options, make(150)))}
    assert wrong == {}


@needs_corpus
@every_subject
def test_some_files_of_the_corpus(listed: Listed, options: Options) -> None:
    files = [file for kind in listed.kinds for file in list(documents(kind, step=150))[:2]]
    assert {name: wrong for name, text in files if (wrong := judge(listed, options, text[:5000], name))} == {}


@every_strategy_of_text
def test_empty_and_blank_documents_give_no_chunk(listed: Listed) -> None:
    blank = ["", " ", "\n", "\r\n", "\t \n\n \u3000\u2028", "\x0b\x0c\x85"]
    assert {text: made for text in blank if (made := split(listed, listed.options[0], text).spans)} == {}


@every_strategy_of_text
def test_chunks_are_numbered_slices(listed: Listed) -> None:
    text = "# A\n\n" + "One sentence here. " * 40 + "\n\n## B\n\n" + "今天天气很好。" * 60
    for options in listed.options:
        made, chunks = split(listed, options, text), chunk(text, listed.strategy, **options)
        assert [piece.index for piece in chunks] == list(range(len(made.spans)))
        assert [(piece.start, piece.end, piece.text) for piece in chunks] == [
            (span.start, span.end, span.text(text)) for span in made.spans
        ]
        assert [(piece.cut, piece.overlap, piece.headings, piece.context) for piece in chunks] == [
            (span.cut, span.overlap, span.headings, span.context) for span in made.spans
        ]
        count = tokens(options.get("encoding_name", "cl100k_base"))
        assert {piece.token_count for piece in chunks} == {None} or [piece.token_count for piece in chunks] == [
            count(piece.embed_text) for piece in chunks
        ]


@every_sized_strategy
def test_unset_overlap_is_50_from_a_size_of_100_and_0_below(listed: Listed) -> None:
    text = " ".join(f"word{n}" for n in range(900))
    if listed.default_overlap == 50:
        assert split(listed, {"max_size": 100}, text) == split(listed, {"max_size": 100, "overlap": 50}, text)
    assert split(listed, {"max_size": 99}, text) == split(listed, {"max_size": 99, "overlap": 0}, text)


@every_sized_strategy
@pytest.mark.parametrize(
    "options",
    [
        {"max_size": 10, "overlap": 10},
        {"max_size": 10, "overlap": 11},
        {"max_size": 10, "overlap": -1},
        {"max_size": 0},
        {"max_size": -5},
        {"max_size": 2.5},
        {"max_size": "10"},
        {"max_size": True},
        {"overlap": 1.5},
        {"max_tokens": 0},
    ],
    ids=named,
)
def test_sizes_out_of_range_are_refused(listed: Listed, options: Options) -> None:
    with pytest.raises(OptionError, match=next(reversed(options))):
        build(listed.strategy, **options)


@every_sized_strategy
def test_an_unknown_option_is_refused_with_the_nearest_name(listed: Listed) -> None:
    with pytest.raises(UnknownOption, match=r"did you mean 'max_size'\?"):
        build(listed.strategy, max_sise=10)


@every_strategy
def test_an_option_of_another_strategy_is_refused(listed: Listed) -> None:
    other = "join_threshold" if listed.strategy != "semantic-markdown" else "separator"
    with pytest.raises(OptionError, match=other):
        build(listed.strategy, **{other: "10"})


def test_another_process_with_other_hashes_cuts_the_same() -> None:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": str(root)}
    script = "import json; from tests.laws.test_laws import digests; print(json.dumps(digests()))"
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(run.stdout) == digests()


def digests() -> dict[str, str]:
    """For each strategy, a digest of what it makes of small pathological documents."""
    return {listed.strategy: digest(listed) for listed in REGISTERED if listed.refuses is None and listed.path is None}


def digest(listed: Listed) -> str:
    some = list(PATHOLOGICAL.values())[::5]
    made = [split(listed, options, make(90)) for options in listed.options[:2] for make in some]
    return hashlib.sha256(repr(made).encode("utf-8", "backslashreplace")).hexdigest()


@pytest.mark.slow
@needs_corpus
@every_subject
def test_whole_corpus(listed: Listed, options: Options) -> None:
    wrong: dict[str, list[str]] = {}
    for kind in listed.kinds:
        for name, text in documents(kind):
            if found := judge(listed, options, text, name):
                wrong[f"{kind}/{name}"] = found[:3]
    assert wrong == {}


@pytest.mark.slow
@every_subject
def test_many_random_documents(listed: Listed, options: Options) -> None:
    examples = -(-SLOW_RANDOM // len(listed.options))
    phases = [Phase.explicit, Phase.generate, Phase.shrink]

    @settings(
        derandomize=True,
        database=None,
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=phases,
    )
    @given(any_document(listed))
    def check(found: tuple[str, str | None]) -> None:
        document, path = found
        assert judge(listed, options, document, path) == []

    check()


@pytest.mark.slow
@every_strategy
@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_pathological_documents_in_full(listed: Listed, name: str) -> None:
    document = PATHOLOGICAL[name](100_000)
    wrong = {
        named(options): found[:3]
        for options in (listed.options[0], listed.options[2])
        if (found := judge(listed, options, document))
    }
    assert wrong == {}


def any_document(listed: Listed) -> st.SearchStrategy[tuple[str, str | None]]:
    """Documents of the kinds a strategy goes through, with the path they lie at where that matters."""
    kinds = [kind for kind in dict.fromkeys((*listed.kinds, *listed.invented)) if kind in DOCUMENTS]
    return st.one_of([st.tuples(DOCUMENTS[kind](), st.just(PATHS.get(kind))) for kind in kinds])
