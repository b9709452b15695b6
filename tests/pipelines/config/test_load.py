"""A configuration's values, as they arrive in the model."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields
from pathlib import Path

import pytest

from pipelines.config.load import TOP_KEYS, config_from, load_config
from pipelines.config.model import (
    Budget,
    Columns,
    Config,
    Decoding,
    Extractor,
    Gates,
    Guard,
    Hidden,
    Limits,
    Output,
    Rule,
    Source,
    Tokens,
)
from pipelines.config.reader import parse_size
from pipelines.config.tree import parse
from pipelines.errors import ConfigError

MINIMAL = "source:\n  - path: docs\noutput: {path: table}\n"
FULL = """\
name: nightly
source:
  - path: s3://${BUCKET}/docs
    include: ["**/*.md", "**/*.txt"]
    exclude: ["drafts/**"]
    id_prefix: docs/
    format: text
    decoding: {encoding: cp1252, errors: replace}
  - path: notes
chunking:
  default: {strategy: recursive, max_size: 2000}
  rules:
    - {match: "law/**", strategy: fixed, max_size: 1500, overlap: 0}
tokens: {encoding_name: o200k_base}
output: {path: "s3://${BUCKET}/table", snapshot: folder, task_bytes: 1.5 MiB}
guard: {documents: 5, percent: 12.5}
gates: {failed_documents: {soft: 0.5%, hard: 20 %}}
storage: {s3: {key: abc, client_kwargs: {secret: xyz}}}
beam: {runner: FnApiRunner}
metadata_values: strings
"""


def load(text: str, **environment: str) -> Config:
    return config_from(parse(text.encode(), "folder/some.yaml"), environment)


def test_a_minimal_configuration_has_the_defaults() -> None:
    assert load(MINIMAL) == Config(name="some", sources=(Source(path="docs"),), output=Output(path="table"))
    config = load(MINIMAL)
    assert config.all_rules == (Rule(strategy="auto"),)
    assert (config.sources[0].include, config.sources[0].exclude) == (("**",), ())
    assert (config.output.snapshot, config.output.task_bytes) == ("folder", 16 * 1024 * 1024)
    assert config.guard == Guard(documents=10, percent=20.0)
    assert (config.tokens, config.gates, config.metadata_values) == (None, None, "typed")


def test_every_key_arrives() -> None:
    default = Rule(strategy="recursive", options={"max_size": 2000})
    rule = Rule(match="law/**", strategy="fixed", options={"max_size": 1500, "overlap": 0})
    assert load(FULL, BUCKET="b") == Config(
        name="nightly",
        sources=(
            Source(
                path="s3://b/docs",
                include=("**/*.md", "**/*.txt"),
                exclude=("drafts/**",),
                id_prefix="docs/",
                format="text",
                decoding=Decoding(encoding="cp1252", errors="replace"),
            ),
            Source(path="notes"),
        ),
        default=default,
        rules=(rule,),
        tokens=Tokens(encoding_name="o200k_base"),
        output=Output(path="s3://b/table", snapshot="folder", task_bytes=1_572_864),
        guard=Guard(documents=5, percent=12.5),
        gates=Gates(failed_documents=Limits(soft=0.5, hard=20.0)),
        storage=Hidden({"s3": {"key": "abc", "client_kwargs": {"secret": "xyz"}}}),
        beam={"runner": "FnApiRunner"},
        metadata_values="strings",
    )


def test_keys_of_the_file_are_the_fields_of_the_model() -> None:
    model = {field.name for field in fields(Config)}
    assert set(TOP_KEYS) - {"source", "chunking"} == model - {"sources", "default", "rules", "warnings"}


def test_the_plain_words_of_yaml_1_1_are_text() -> None:
    assert load(MINIMAL + "name: no\n").name == "no"
    assert load(MINIMAL + "name: 12:30\n").name == "12:30"


def test_literal_dollar_brace_in_an_address() -> None:
    assert load("source:\n  - path: 'a$${X}/$b'\noutput: {path: t}\n").sources[0].path == "a${X}/$b"


def test_one_byte_order_mark_is_fine(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_bytes(b"\xef\xbb\xbf" + MINIMAL.encode())
    assert load_config(tmp_path / "c.yaml").name == "c"


def test_source_selects_by_include_and_exclude() -> None:
    source = Source(path="x", include=("**/*.md",), exclude=("drafts/**", "**/README.md"))
    paths = ["a.md", "a/b.md", "a/b.txt", "drafts/a.md", "README.md", "a/README.md"]
    assert [path for path in paths if source.selects(path)] == ["a.md", "a/b.md"]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (300, 300), ("300", 300), ("300B", 300), ("1KB", 1000), ("1 KiB", 1024), ("16MiB", 16777216), ("1.5GB", 1500000000),
        ("2GiB", 2147483648), ("16mib", None), ("", None), ("-1", None), (-1, None), (True, None), (1.5, None), ("1e3", None),
        ("１MB", None), (None, None), ("1  MB", None),
    ],
)  # fmt: skip
def test_sizes(text: object, size: int | None) -> None:
    assert parse_size(text) == size


def test_storage_options_never_show_but_travel() -> None:
    config = load(FULL, BUCKET="b")
    assert config.storage.reveal() == {"s3": {"key": "abc", "client_kwargs": {"secret": "xyz"}}}
    for text in (repr(config), str(config.storage), f"{config.storage}", repr(config.storage["s3"])):
        assert "abc" not in text
        assert "xyz" not in text
    assert repr(config.storage) == "{'s3': {'key': '***', 'client_kwargs': {'secret': '***'}}}"
    assert pickle.loads(pickle.dumps(config)) == config
    assert repr(copy.deepcopy(config.storage)) == repr(config.storage)
    assert type(config.storage.reveal()["s3"]["client_kwargs"]) is dict


RECORDS = """\
source:
  - path: docs
    format: parquet
    columns: {id: key, text: body, title: t, media_type: m, metadata: [lang, n], payload: {price: double, at: timestamp}}
  - path: more
    columns: {payload: {name: string, price: double}}
  - path: letters
    extractor: {function: "json:loads", version: "1"}
output: {path: table}
limits: {max_bytes: 1MiB, max_chunks: 5, work: 1000, seconds: 2.5, max_ratio: 10}
"""


def test_columns_extractors_and_limits_arrive() -> None:
    config = load(RECORDS)
    assert config.sources[0].columns == Columns(
        id="key",
        text="body",
        title="t",
        media_type="m",
        metadata=("lang", "n"),
        payload={"price": "double", "at": "timestamp"},
    )
    assert config.payload == (("price", "double"), ("at", "timestamp"), ("name", "string"))
    assert config.sources[2].extractor == Extractor(function="json:loads", version="1")
    assert config.limits == Budget(max_bytes=1024 * 1024, max_chunks=5, work=1000, seconds=2.5, max_ratio=10)
    assert load(MINIMAL).limits == Budget()


def test_a_configuration_may_lie_in_a_store() -> None:
    from pipelines.storage.store import open_store

    open_store("memory://configurations/here").write("nightly.yaml", MINIMAL.encode())
    config = load_config("memory://configurations/here/nightly.yaml")
    assert (config.name, config.output.path) == ("nightly", "table")


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("memory://configurations/none.yaml", "cannot be read: there is no such object"),
        ("nowhere://bucket/none.yaml", "cannot be read: cannot be opened: Protocol not known: nowhere"),
    ],
)
def test_a_configuration_that_is_not_in_its_store_is_told(address: str, problem: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(address)
    assert str(error.value).startswith(f"{address}: {problem}")
    assert error.value.file == address
