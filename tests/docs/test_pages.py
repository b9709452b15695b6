"""What pages state that is no snippet: links, columns of the table, options of strategies, targets of the Makefile."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import chunkers
from chunkers.composing import auto
from chunkers.cutting.languages import LANGUAGES
from pipelines.__main__ import main
from pipelines.table import schemas
from tests import test_structure_cases
from tests.chunkers import test_cases
from tests.docs import matrix
from tests.docs.pages import ROOT, anchors, links, pages, tables


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for line, target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        goal = (page.parent / unquote(path)).resolve() if path else page
        if not goal.exists() or (fragment and fragment not in anchors(goal)):
            broken.append(f"{page.relative_to(ROOT)}:{line}: {target}")
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("kind", ["chunks", "documents", "changes", "failures"])
def test_outputs_page_lists_every_column_with_its_type(kind: schemas.Kind) -> None:
    shown = [(name, type_) for name, type_, *_ in tables(ROOT / "docs/outputs.md")[kind]]
    assert shown == [(field.name, _type_name(field.type)) for field in schemas.schema_of(kind)]


def test_outputs_page_says_which_columns_are_never_null(table: Path) -> None:
    page = tables(ROOT / "docs/outputs.md")
    for kind, files in {"chunks": "table/chunks/*/*.parquet", "documents": "table/runs/*/documents/*.parquet"}.items():
        rows = pa.concat_tables([pq.read_table(file) for file in table.glob(files)])
        assert rows.num_rows > 50
        nulls = {name for name in rows.column_names if rows[name].null_count}
        assert nulls <= {name for name, _, null, *_ in page[kind] if null != "never"}


@pytest.mark.parametrize(
    "command",
    ["run", "plan", "files", "verify", "show", "show --document README.md"],
)
def test_outputs_page_names_keys_that_programs_find(
    command: str, table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(table)
    name, *options = command.split()
    assert main([name, "nightly.yaml", *options, "--output", "json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    section = (ROOT / "docs/outputs.md").read_text(encoding="utf-8").partition("\n## What commands print")[2]
    (cell,) = re.findall(rf"^\| `{name}` \| (.*) \|$", section, re.MULTILINE)
    named = set(re.findall(r"`([a-z_0-9]+)`", cell))
    keys = {*found[0], *found[0].get("summary", ())}
    if name == "show":
        assert {key for key in keys if key in ("document", "failure", "chunks")} <= named
        assert bool(options) == ({"document", "failure", "chunks"} <= keys)
    else:
        assert len(named) > 3
        assert named <= keys


def _type_name(type_: object) -> str:
    name = str(type_)
    return {
        "timestamp[us, tz=UTC]": "timestamp (UTC, µs)",
        "list<element: string>": "list of string",
        "float": "float32",
    }.get(name, name)


@pytest.mark.parametrize("name", sorted(chunkers.strategy_kinds()))
def test_strategies_page_lists_every_option_with_its_default(name: str) -> None:
    shown = {option: default for option, default, *_ in tables(ROOT / "docs/strategies.md").get(name, [])}
    shared = {option: default for option, default, *_ in tables(ROOT / "docs/strategies.md")["Options for sizes"]}
    options = {
        field.name: matrix.default_of(field) for field in dataclasses.fields(chunkers.strategy_kinds()[name].Options)
    }
    own = {option: default for option, default in options.items() if shared.get(option) != default}
    assert shown == own


def test_strategies_page_says_what_auto_chooses() -> None:
    shown = {}
    for endings, strategy in tables(ROOT / "docs/strategies.md")["What auto chooses"]:
        shown.update(dict.fromkeys(endings.split(), strategy))
    chosen = {suffix: auto.kind_of(f"a{suffix}", None) for suffix in auto.BY_SUFFIX}
    for suffix in re.findall(r"\.\S+", " ".join(shown)):
        if language := auto.language_for(f"a{suffix}", None):
            chosen[suffix] = f"recursive, {language}"
    assert shown.pop("anything", None) == "recursive"
    assert shown == chosen
    assert {strategy.split(", ")[1] for strategy in shown.values() if ", " in strategy} == {
        language for language in LANGUAGES if language not in ("html", "latex", "markdown")
    }


def test_strategies_page_shows_which_strategy_reads_which_option() -> None:
    assert matrix.shown() == matrix.matrix(), "python -m tests.docs.matrix puts it right"


NAMES_ELSEWHERE = [
    *("strategy", "maxSize", "overlap", "lengthFunction", "separatorPosition", "addStartIndex", "stripWhitespace"),
    *("extract", "separator", "separators", "isSeparatorRegex", "language", "minSize", "targetSize", "sentenceEnders"),
    *("fallbackToWords", "fallbackToCharacters", "headers", "sections", "returnEachLine", "stripHeaders"),
    *("joinThreshold", "encodingName", "modelName", "allowedSpecial", "disallowedSpecial", "ensureAscii"),
    *("convertLists", "chunk_size", "chunk_overlap", "mode", "markdown_header_depth", "chunker", "parentId"),
    *("seps", "size"),
]


def test_strategies_page_translates_every_name_to_one_that_exists() -> None:
    rows = tables(ROOT / "docs/strategies.md")["Names used elsewhere"]
    kinds = chunkers.strategy_kinds()
    options = {field.name for kind in kinds.values() for field in dataclasses.fields(kind.Options)}
    ours = {*options, *kinds, *schemas.schema_of("chunks").names}
    assert [name for name, *_ in rows if " " not in name] == NAMES_ELSEWHERE
    for name, here, _ in rows:
        snake = re.sub(r"([A-Z])", lambda capital: f"_{capital[1].lower()}", name)
        assert here in ours or here == "—", name
        assert here == snake or snake not in options, name
        assert here != "—" or not ours & set(re.findall(r"\w+", name)), f"{name} exists by now"


def test_strategies_page_argues_every_case_that_is_decided_otherwise() -> None:
    argued = [name for name, *_ in tables(ROOT / "docs/strategies.md")["Cases decided otherwise"]]
    assert sorted(argued) == sorted([*test_cases.DEVIATIONS, *test_structure_cases.DEVIATIONS])


def test_help_of_make_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    documented = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    assert targets == documented


def test_every_decision_is_numbered_once_and_listed() -> None:
    folder = ROOT / "docs/decisions"
    records = sorted(path.name for path in folder.glob("0*.md"))
    assert len({name[:4] for name in records}) == len(records)
    assert [target for _, target in links(folder / "README.md")] == records
