"""Every refusal of a configuration, word for word: the place, what was given, what is allowed."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from pipelines.config.load import config_from, load_config
from pipelines.config.model import Config
from pipelines.config.tree import parse
from pipelines.errors import ConfigError

START = "source:\n  - path: docs\noutput: {path: table}\n"  # 3 lines


def read(text: str) -> Config:
    return config_from(parse(text.encode(), "c.yaml"), {})


def refusal(text: str, environment: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        config_from(parse(dedent(text).encode(), "c.yaml"), environment or {})
    return str(caught.value)


YAML = [
    ("", "c.yaml: is empty; it needs at least the keys source and output"),
    ("# nothing\n", "c.yaml: is empty; it needs at least the keys source and output"),
    (
        "[]",
        (
            "c.yaml:1: is a list; it must be a mapping with the keys name, source, chunking, tokens, output, limits, guard, gates, "
            "storage, beam, metadata_values"
        ),
    ),
    ("name: a\nname: b\n", "c.yaml:2: name is given twice; the first is on line 1"),
    ("output:\n  path: a\n  path: b\n", "c.yaml:3: output.path is given twice; the first is on line 2"),
    ("a: &x 1\nb: *x\n", "c.yaml:1: anchors and aliases (&name, *name) are not supported; write the value out"),
    ("name: *x\n", "c.yaml:1: anchors and aliases (&name, *name) are not supported; write the value out"),
    (
        "name: !!python/name:os.system x\n",
        "c.yaml:1: tags are not supported: 'tag:yaml.org,2002:python/name:os.system'",
    ),
    ("name: a\n---\nname: b\n", "c.yaml:2: a second document starts here; a configuration is one document"),
    ("name: a\n1: b\n", "c.yaml:2: the configuration has the key 1; keys must be text"),
    ("output: {true: b}\n", "c.yaml:1: output has the key true; keys must be text"),
    (
        "name: a\n\tb: c\n",
        "c.yaml:2: not valid YAML: found character '\\t' that cannot start any token; indent with spaces, not tabs",
    ),
    (
        "name: [a\n",
        "c.yaml:2: not valid YAML: expected ',' or ']', but got '<stream end>'; what is not closed begins on line 1",
    ),
    (
        "name: 'a\nsource: [a]\n",
        "c.yaml:3: not valid YAML: found unexpected end of stream; what is not closed begins on line 1",
    ),
    ("name: a: b\n", "c.yaml:1: not valid YAML: mapping values are not allowed here; put text that has ': ' in quotes"),
    ("name: " + "[" * 40 + "]" * 40, "c.yaml:1: nested more than 32 levels deep"),
    (
        "guard: {documents: 99999999999999999999999}\n",
        "c.yaml:1: guard.documents has 23 digits; that is no useful number",
    ),
]


@pytest.mark.parametrize(("text", "message"), YAML)
def test_yaml_is_read_strictly(text: str, message: str) -> None:
    assert refusal(text) == message


def test_bytes_that_are_no_utf8_are_refused_with_their_line() -> None:
    with pytest.raises(ConfigError) as caught:
        parse(b"name: a\nx: \xff\n", "c.yaml")
    assert str(caught.value) == "c.yaml:2: byte 11 is not valid UTF-8"


def test_control_characters_are_refused_with_their_line() -> None:
    with pytest.raises(ConfigError) as caught:
        parse(b"name: a\nx: \x01\n", "c.yaml")
    assert str(caught.value) == "c.yaml:2: has the character U+0001, which YAML does not allow"


def test_a_huge_file_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        parse(b"#" * 2_000_000, "c.yaml")
    assert str(caught.value) == "c.yaml: is 2000000 bytes long; a configuration may have 1048576"


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path / "none.yaml")
    assert str(caught.value) == f"{tmp_path / 'none.yaml'}: cannot be read: No such file or directory"


TOP = "c.yaml:4: {} is not a key of the configuration{}; keys: name, source, chunking, tokens, output, limits, guard, gates, storage, beam, metadata_values"

KEYS = [
    ("chunkin: {}\n", TOP.format("chunkin", " (did you mean 'chunking'?)")),
    ("sources: []\n", TOP.format("sources", " (did you mean 'source'?)")),
    ("zzz: 1\n", TOP.format("zzz", "")),
    ("name: no\ngates: {}\n", "c.yaml:5: gates has no 'failed_documents'"),
    ("name: true\n", "c.yaml:4: name is true; it must be text (put it in quotes)"),
    ("name: 3\n", "c.yaml:4: name is 3; it must be text (put it in quotes)"),
    ("name: ''\n", "c.yaml:4: name is ''; it must be text"),
    ('name: "a\\nb"\n', "c.yaml:4: name is 'a\\nb'; the character U+000A may not be in it"),
    ("guard: 3\n", "c.yaml:4: guard is 3; it must be a mapping with the keys documents, percent"),
    (
        "guard: {document: 3}\n",
        (
            "c.yaml:4: guard.document is not a key of the configuration (did you mean 'documents'?); "
            "keys here: documents, percent"
        ),
    ),
    ("guard:\n  documents: -1\n", "c.yaml:5: guard.documents is -1; it must be a whole number, 0 or more"),
    ("guard: {documents: 1.5}\n", "c.yaml:4: guard.documents is 1.5; it must be a whole number, 0 or more"),
    ("guard: {documents: true}\n", "c.yaml:4: guard.documents is true; it must be a whole number, 0 or more"),
    (
        "guard: {percent: 20%}\n",
        "c.yaml:4: guard.percent is '20%'; it must be a number from 0 to 100, without a % sign",
    ),
    ("guard: {percent: 101}\n", "c.yaml:4: guard.percent is 101; it must be a number from 0 to 100, without a % sign"),
    (
        "gates: {failed_documents: {}}\n",
        "c.yaml:4: gates.failed_documents sets no limit; it must have soft, hard or both",
    ),
    (
        "gates: {failed_documents: {soft: 1}}\n",
        "c.yaml:4: gates.failed_documents.soft is 1; it must be a percentage from 0% to 100%, with the % sign",
    ),
    (
        "gates: {failed_documents: {hard: 120%}}\n",
        "c.yaml:4: gates.failed_documents.hard is '120%'; it must be a percentage from 0% to 100%, with the % sign",
    ),
    (
        "gates:\n  failed_documents:\n    soft: 30%\n    hard: 20%\n",
        "c.yaml:6: gates.failed_documents.soft is 30% but hard is 20%; soft must be below hard",
    ),
    (
        "gates: {oversize_chunks: {soft: 1%}}\n",
        "c.yaml:4: gates.oversize_chunks is not a key of the configuration; keys here: failed_documents",
    ),
    ("metadata_values: text\n", "c.yaml:4: metadata_values is 'text'; it must be typed or strings"),
    ("metadata_values: [typed]\n", "c.yaml:4: metadata_values is a list; it must be typed or strings"),
    ("tokens: {}\n", "c.yaml:4: tokens has no 'encoding_name'"),
    ("beam: {}\n", "c.yaml:4: beam has no 'runner'"),
    (
        "beam: {runner: FlinkRuner}\n",
        (
            "c.yaml:4: beam.runner is wrong: 'FlinkRuner' is not a runner (did you mean 'FlinkRunner'?); there are "
            "DataflowRunner, BundleBasedDirectRunner, DirectRunner, SwitchingDirectRunner, InteractiveRunner, "
            "FlinkRunner, FnApiRunner, KafkaStreamsRunner, PortableRunner, PrismRunner, SparkRunner, "
            "TestDirectRunner, TestDataflowRunner, and any other by its import path"
        ),
    ),
    (
        "beam: {runner: DirectRunner, flink_master: x}\n",
        "c.yaml:4: beam.flink_master would do nothing: the runner is DirectRunner, which works on this machine",
    ),
    (
        "beam: {runner: PrismRunner, prism_locaton: x}\n",
        (
            "c.yaml:4: beam.prism_locaton is not a pipeline option of PrismRunner (did you mean 'prism_location'?); "
            "Beam's general pipeline options are allowed, and PrismRunner's own: prism_beam_version_override, "
            "prism_location, prism_log_kind, prism_log_level"
        ),
    ),
    (
        "beam: {runner: FlinkRunner, flink_mastr: x}\n",
        (
            "c.yaml:4: beam.flink_mastr is not a pipeline option of FlinkRunner (did you mean 'flink_master'?); "
            "Beam's general pipeline options are allowed, and FlinkRunner's own: flink_job_server_jar, flink_master, "
            "flink_submit_uber_jar, flink_version, max_parallelism, parallelism"
        ),
    ),
    (
        "beam: {runner: SparkRunner, flink_master: x}\n",
        "c.yaml:4: beam.flink_master is an option of FlinkRunner and PortableRunner, but the runner is SparkRunner",
    ),
    (
        "beam: {runner: FlinkRunner, parallelism: two}\n",
        "c.yaml:4: beam.parallelism cannot be used: invalid int value: 'two'",
    ),
    (
        "beam: {runner: FlinkRunner, streaming: true}\n",
        "c.yaml:4: beam.streaming does not fit: a run reads what is there, and ends",
    ),
    ("beam: {runner: FlinkRunner, parallelism: null}\n", "c.yaml:4: beam.parallelism has no value; leave it out"),
    (
        "beam: {runner: FlinkRunner, experiments: [[a]]}\n",
        "c.yaml:4: beam.experiments is a list of more than plain values",
    ),
    (
        "beam: {runner: FlinkRunner, setup_file: no/such/setup.py}\n",
        "c.yaml:4: beam.setup_file is no/such/setup.py, which is no file",
    ),
    ("storage: [s3]\n", "c.yaml:4: storage is a list; it must map protocols (s3, gs, …) to their options"),
    ("storage:\n  s3: {key: k}\n", "c.yaml:5: storage.s3 is not the protocol of any address here; addresses use: file"),
    ("storage: {file: secret}\n", "c.yaml:4: storage.file must be a mapping of fsspec options"),
    (
        "storage: {file: {auto_mkdir: true}}\n",
        "c.yaml:4: storage.file.auto_mkdir is not a key of the configuration; keys here: follow_links",
    ),
    ("storage: {file: {follow_links: 1}}\n", "c.yaml:4: storage.file.follow_links is 1; it must be true or false"),
]


@pytest.mark.parametrize(("text", "message"), KEYS)
def test_keys_and_values(text: str, message: str) -> None:
    assert refusal(START + text) == message


SOURCES = [
    ("output: {path: t}\n", "c.yaml:1: the key 'source' is missing; it lists the folders to read"),
    (
        "source: []\noutput: {path: t}\n",
        "c.yaml:1: source is an empty list; it must be a list of sources, each '- path: …'",
    ),
    (
        "source: {path: docs}\noutput: {path: t}\n",
        "c.yaml:1: source is a mapping; it must be a list of sources, each '- path: …'",
    ),
    (
        "source: [docs]\noutput: {path: t}\n",
        (
            "c.yaml:1: source[0] is 'docs'; it must be a mapping with the keys path, include, exclude, id_prefix, format, "
            "columns, decoding, extractor"
        ),
    ),
    ("source:\n  - include: ['**']\noutput: {path: t}\n", "c.yaml:2: source[0] has no 'path'"),
    (
        "source:\n  - path: a\n  - path: b\n    exclud: []\noutput: {path: t}\n",
        (
            "c.yaml:4: source[1].exclud is not a key of the configuration (did you mean 'exclude'?); keys here: path, include, "
            "exclude, id_prefix, format, columns, decoding, extractor"
        ),
    ),
    (
        "source:\n  - path: a\n    include: '**'\noutput: {path: t}\n",
        "c.yaml:3: source[0].include is '**'; it must be a list of globs, like [\"**/*.md\"]",
    ),
    (
        "source:\n  - path: a\n    include: []\noutput: {path: t}\n",
        'c.yaml:3: source[0].include is an empty list, which selects nothing; write ["**"] for everything',
    ),
    (
        "source:\n  - path: a\n    include:\n      - '*.md'\n      - '*.{a,b}'\noutput: {path: t}\n",
        (
            "c.yaml:5: source[0].include[1] is '*.{a,b}', which has '{'; write one pattern per alternative, or '[{]' for a literal "
            "one"
        ),
    ),
    (
        "source:\n  - path: a\n    exclude: [3]\noutput: {path: t}\n",
        'c.yaml:3: source[0].exclude[0] is 3; it must be a glob in quotes, like "**/*.md"',
    ),
    (
        "source:\n  - path: a\n    format: txt\noutput: {path: t}\n",
        "c.yaml:3: source[0].format is 'txt'; it must be auto, text, jsonl, csv, tsv, parquet or records (did you mean 'text'?)",
    ),
    (
        "source:\n  - path: a\n    format: text\n    columns: {id: key}\noutput: {path: t}\n",
        "c.yaml:4: source[0].columns is for records, but format is 'text', which reads none; remove one of them",
    ),
    (
        "source:\n  - path: a\n    columns: {key: id}\noutput: {path: t}\n",
        "c.yaml:3: source[0].columns.key is not a key of the configuration; keys here: id, text, title, media_type, metadata, payload",
    ),
    (
        "source:\n  - path: a\n    columns: {id: text}\noutput: {path: t}\n",
        "c.yaml:3: source[0].columns.id is 'text', which both id and text would be",
    ),
    (
        "source:\n  - path: a\n    columns: {metadata: lang}\noutput: {path: t}\n",
        "c.yaml:3: source[0].columns.metadata is 'lang'; it must be a list of column names",
    ),
    (
        "source:\n  - path: a\n    columns: {metadata: [a, a]}\noutput: {path: t}\n",
        "c.yaml:3: source[0].columns.metadata names a column twice",
    ),
    (
        "source:\n  - path: a\n    columns: {payload: [a]}\noutput: {path: t}\n",
        "c.yaml:3: source[0].columns.payload is a list; it must map column names to types, like {price: double}",
    ),
    (
        "source:\n  - path: a\n    columns: {payload: {a: float}}\noutput: {path: t}\n",
        "c.yaml:3: source[0].columns.payload.a is 'float'; it must be one of string, int64, double, bool, date, timestamp, binary",
    ),
    (
        "source:\n  - path: a\n    columns: {payload: {Title: string}}\noutput: {path: t}\n",
        "c.yaml:3: source[0].columns.payload.Title cannot be: payload column 'Title' collides with the table's own column 'title'",
    ),
    (
        "source:\n  - path: a\n    columns: {payload: {a: string}}\n  - path: b\n    columns: {payload: {A: string}}\noutput: {path: t}\n",
        "c.yaml:5: source[1].columns.payload.A is 'A' of type string, but source[0] has 'a' of type string; a payload column has one spelling and one type in all sources",
    ),
    (
        "source:\n  - path: a\n    format: parquet\n    decoding: {errors: strict}\noutput: {path: t}\n",
        "c.yaml:4: source[0].decoding would do nothing: the text in Parquet is UTF-8; remove it",
    ),
    (
        "source:\n  - path: a\n    extractor: {function: json}\noutput: {path: t}\n",
        "c.yaml:3: source[0].extractor has no 'version'",
    ),
    (
        "source:\n  - path: a\n    extractor: {function: json, version: a}\noutput: {path: t}\n",
        "c.yaml:3: source[0].extractor.function is 'json', which is not of the form package.module:function",
    ),
    (
        "source:\n  - path: a\n    extractor: {function: 'json:lods', version: a}\noutput: {path: t}\n",
        "c.yaml:3: source[0].extractor.function is 'json:lods', which cannot be imported: json has no 'lods'",
    ),
    (
        "source:\n  - path: a\n    extractor: {function: 'no_such_module:f', version: a}\noutput: {path: t}\n",
        "c.yaml:3: source[0].extractor.function is 'no_such_module:f', which cannot be imported: No module named 'no_such_module'; is its folder on PYTHONPATH?",
    ),
    (
        "source:\n  - path: a\n    extractor: {function: 'json:loads', version: a}\n    format: csv\noutput: {path: t}\n",
        "c.yaml:4: source[0].format is 'csv', but the extractor gives one text a file; remove one of them",
    ),
    (
        "source:\n  - path: a\n    decoding: {encoding: utf-9}\noutput: {path: t}\n",
        (
            "c.yaml:3: source[0].decoding.encoding is 'utf-9', which Python cannot decode; it must be null (detect) or a name like "
            "utf-8, gb18030, cp1252"
        ),
    ),
    (
        "source:\n  - path: a\n    decoding: {encoding: base64}\noutput: {path: t}\n",
        (
            "c.yaml:3: source[0].decoding.encoding is 'base64', which Python cannot decode; it must be null (detect) or a name like "
            "utf-8, gb18030, cp1252"
        ),
    ),
    (
        "source:\n  - path: a\n    decoding: {errors: ignore}\noutput: {path: t}\n",
        "c.yaml:3: source[0].decoding.errors is 'ignore'; it must be strict or replace",
    ),
    (
        "source:\n  - path: ~/docs\noutput: {path: t}\n",
        "c.yaml:2: source[0].path starts with '~', which only a shell expands; write ${HOME}, or ./~ for that name",
    ),
    ("source:\n  - path: a\n", "c.yaml:1: the key 'output' is missing; output.path is the folder of the table"),
    ("source:\n  - path: a\noutput: {}\n", "c.yaml:3: output has no 'path'"),
    (
        "source:\n  - path: a\noutput: {path: t, snapshot: referenced}\n",
        "c.yaml:3: output.snapshot is 'referenced', which this version does not write yet; it must be folder",
    ),
    (
        "source:\n  - path: a\noutput: {path: t, snapshot: folders}\n",
        "c.yaml:3: output.snapshot is 'folders'; it must be folder (did you mean 'folder'?)",
    ),
    (
        "source:\n  - path: a\noutput: {path: t, task_bytes: 16 mb}\n",
        (
            "c.yaml:3: output.task_bytes is '16 mb'; it must be a size: a whole number of bytes, or one with a unit (B, KB, MB, GB, "
            "KiB, MiB, GiB), like 16MiB"
        ),
    ),
    (
        "source:\n  - path: a\noutput: {path: t, task_bytes: 2GiB}\n",
        "c.yaml:3: output.task_bytes is '2GiB'; it must be from 1KiB to 512MiB",
    ),
]


@pytest.mark.parametrize(("text", "message"), SOURCES)
def test_source_and_output(text: str, message: str) -> None:
    assert refusal(text) == message


def test_percent_in_the_tables_address_is_refused() -> None:
    assert refusal("source:\n  - path: docs\noutput: {path: a%20b}\n") == (
        "c.yaml:3: output.path is 'a%20b'; a table's address cannot hold '%': readers decode it differently"
    )


def test_odd_characters_in_the_tables_address_are_warned_of() -> None:
    config = config_from(parse(b"source:\n  - path: docs\noutput:\n  path: a b#c\n", "c.yaml"), {})
    assert config.warnings == (
        "c.yaml:4: output.path has ' #' in it; some readers of Delta tables cannot open such an address",
    )


OVERLAPS = [
    ("docs", "docs", "c.yaml:3: output.path is 'docs', the folder of source[0]; the table needs a folder of its own"),
    (
        "docs",
        "./docs/",
        "c.yaml:3: output.path is './docs/', the folder of source[0]; the table needs a folder of its own",
    ),
    (
        "docs",
        "docs/table",
        (
            "c.yaml:3: output.path is 'docs/table', inside source[0] ('docs'), so the next run would read the table as documents; "
            "move it, or add 'table/**' to source[0].exclude"
        ),
    ),
    (
        "s3a://b/docs",
        "s3://b/docs/x/t/",
        (
            "c.yaml:3: output.path is 's3://b/docs/x/t/', inside source[0] ('s3a://b/docs'), so the next run would read the table as "
            "documents; move it, or add 'x/t/**' to source[0].exclude"
        ),
    ),
    (
        "t/in",
        "t",
        "c.yaml:2: source[0].path is 't/in', inside output.path ('t'); documents may not lie in the table's folder",
    ),
]


STORES = [
    (
        "s4://bucket/docs",
        "table",
        "c.yaml:2: source[0].path is on s4://, which is the protocol of no store; did you mean s3://?",
    ),
    (
        "docs",
        "GS://bucket/table",
        "c.yaml:3: output.path is on GS://, which is the protocol of no store; did you mean gs://?",
    ),
    (
        "docs",
        "quuxly://bucket/table",
        "c.yaml:3: output.path is on quuxly://, which is the protocol of no store; object stores are s3, gs and az",
    ),
    (
        "foo://bucket/docs",
        "table",
        "c.yaml:2: source[0].path is on foo://, which is the protocol of no store; object stores are s3, gs and az",
    ),
    (
        "docs",
        "http://host/table",
        (
            "c.yaml:3: output.path is on http://; tables are kept on a disk, s3, gs and az, which create an object only "
            "once"
        ),
    ),
]


@pytest.mark.parametrize(("source", "output", "message"), STORES)
def test_stores_that_there_are_not(source: str, output: str, message: str) -> None:
    assert refusal(f"source:\n  - path: {source}\noutput: {{path: {output}}}\n") == message


@pytest.mark.parametrize(
    ("address", "package", "extra"),
    [
        ("s3://bucket/docs", "s3fs", "s3"),
        ("gcs://bucket/docs", "gcsfs", "gcs"),
        ("abfss://box@account.dfs.core.windows.net/docs", "adlfs", "azure"),
    ],
)
def test_stores_whose_package_is_not_installed(
    address: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert refusal(f"source:\n  - path: {address}\noutput: {{path: table}}\n") == (
        f"c.yaml:2: source[0].path needs the package {package}: pip install 'rechunk[{extra}]'"
    )


def test_a_store_of_fsspec_whose_package_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "paramiko", None)
    monkeypatch.delitem(sys.modules, "fsspec.implementations.sftp", raising=False)
    assert refusal("source:\n  - path: sftp://host/docs\noutput: {path: table}\n") == (
        'c.yaml:2: source[0].path needs a package that is missing: SFTPFileSystem requires "paramiko" to be installed'
    )


@pytest.mark.parametrize(
    ("protocol", "key", "library", "meant"),
    [("s3", "secrett", "s3fs", "secret"), ("gs", "tokn", "gcsfs", "token"), ("az", "annon", "adlfs", "anon")],
)
def test_an_option_that_the_library_of_a_store_does_not_have(protocol: str, key: str, library: str, meant: str) -> None:
    said = refusal(f"{START}storage: {{{protocol}: {{{key}: x}}}}\n".replace("docs", f"{protocol}://bucket/docs"))
    assert said.startswith(
        f"c.yaml:4: storage.{protocol}.{key} is not an option of {library} (did you mean '{meant}'?)"
    )
    assert meant in said.partition("; it has ")[2].split(", ")


def test_a_client_that_there_is_not() -> None:
    text = START.replace("docs", "s3://bucket/docs")
    assert (
        refusal(text + "storage: {s3: {client: boto}}\n") == "c.yaml:4: storage.s3.client must be one of auto, fsspec"
    )
    assert read(text + "storage: {s3: {client: fsspec, anon: true}}\n").storage.reveal() == {
        "s3": {"client": "fsspec", "anon": True}
    }


def test_a_source_that_is_there_twice() -> None:
    text = "source:\n  - path: docs\n  - {path: docs/, format: text}\noutput: {path: table}\n"
    assert refusal(text) == (
        "c.yaml:3: source[1].path is 'docs/', of which source[0] takes the same documents under the same ids; remove "
        "one, or give one an id_prefix"
    )
    assert len(read(text.replace("format: text", "exclude: [a]")).sources) == 2
    assert len(read(text.replace("format: text", "id_prefix: a/")).sources) == 2


@pytest.mark.parametrize(("source", "output", "message"), OVERLAPS)
def test_table_and_sources_may_not_overlap(source: str, output: str, message: str) -> None:
    assert refusal(f"source:\n  - path: {source}\noutput: {{path: {output}}}\n") == message


def test_table_inside_a_source_is_fine_when_it_is_excluded() -> None:
    text = "source:\n  - {path: docs, exclude: ['table/**']}\noutput: {path: docs/table}\n"
    assert config_from(parse(text.encode(), "c.yaml"), {}).output.path == "docs/table"


def test_a_neighbour_with_the_same_start_is_not_inside() -> None:
    text = "source:\n  - path: docs\noutput: {path: docs-table}\n"
    assert config_from(parse(text.encode(), "c.yaml"), {}).output.path == "docs-table"


VARIABLES = [
    ("s3://${BUCKET}/x", {}, "c.yaml:2: source[0].path names the environment variable BUCKET, which is not set"),
    (
        "s3://${BUCKET}/x",
        {"BUCKET": ""},
        "c.yaml:2: source[0].path names the environment variable BUCKET, which is empty",
    ),
    ("s3://${BUCKET", {}, "c.yaml:2: source[0].path has '${BUCKET'; write ${NAME}, or $${ for a literal ${"),
    ("s3://${BUC-KET}", {}, "c.yaml:2: source[0].path has '${BUC-KET}'; write ${NAME}, or $${ for a literal ${"),
    (
        "s3://${X}",
        {"X": "key:secret@bucket"},
        "c.yaml:2: source[0].path has a password in it; credentials belong to the environment or the section 'storage'",
    ),
    ("docs/${X}", {"X": "a\nb"}, "c.yaml:2: source[0].path is 'docs/a\\nb'; the character U+000A may not be in it"),
]


@pytest.mark.parametrize(("path", "environment", "message"), VARIABLES)
def test_variables_in_addresses(path: str, environment: dict[str, str], message: str) -> None:
    assert refusal(f'source:\n  - path: "{path}"\noutput: {{path: t}}\n', environment) == message


def test_variables_elsewhere_are_refused() -> None:
    assert refusal(START + "name: ${USER}\n") == "c.yaml:4: name has ${…}, which is expanded in addresses (path) only"
    assert refusal(START + "storage: {file: {key: '${KEY}'}}\n") == (
        "c.yaml:4: storage.file.key has ${…}, which is expanded in addresses (path) only; let fsspec's own environment "
        "variables carry credentials"
    )


RULES = [
    ("chunking: {default: {max_size: 3}}\n", "c.yaml:4: chunking.default has no 'strategy'"),
    (
        "chunking: {defaults: {}}\n",
        (
            "c.yaml:4: chunking.defaults is not a key of the configuration (did you mean 'default'?); "
            "keys here: default, rules"
        ),
    ),
    ("chunking: {rules: {}}\n", "c.yaml:4: chunking.rules is a mapping; it must be a list of rules, each '- match: …'"),
    (
        "chunking: {rules: [a]}\n",
        "c.yaml:4: chunking.rules[0] is 'a'; it must be a mapping with the keys match, strategy",
    ),
    ("chunking: {rules: [{strategy: fixed}]}\n", "c.yaml:4: chunking.rules[0] has no 'match'"),
    (
        "chunking: {rules: [{match: 'a['}]}\n",
        "c.yaml:4: chunking.rules[0].match is 'a[', which has a '[' without a closing ']'; write '[[]' for a literal one",
    ),
    (
        "chunking: {default: {strategy: fixed, match: '**'}}\n",
        "c.yaml:4: chunking.default.match has no meaning here: the default applies where no rule matches; remove it",
    ),
    (
        "chunking:\n  rules:\n    - {match: '**', strategy: fixed}\n    - {match: 'a/**', strategy: fixed}\n",
        "c.yaml:7: chunking.rules[1].match is 'a/**', which never applies: chunking.rules[0] matches the same documents first",
    ),
    (
        "chunking:\n  rules:\n    - {match: 'a/*', strategy: fixed}\n    - {match: 'a/*', strategy: fixed}\n",
        "c.yaml:7: chunking.rules[1].match is 'a/*', which never applies: chunking.rules[0] matches the same documents first",
    ),
]


@pytest.mark.parametrize(("text", "message"), RULES)
def test_rules(text: str, message: str) -> None:
    assert refusal(START + text) == message


def test_error_pickles_with_its_place() -> None:
    import pickle

    with pytest.raises(ConfigError) as caught:
        config_from(parse((START + "guard: {documents: -1}\n").encode(), "c.yaml"), {})
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.file, copy.line, copy.key, str(copy)) == ("c.yaml", 4, "guard.documents", str(caught.value))


def test_everything_that_is_wrong_is_told_at_once_and_nothing_that_follows_from_it() -> None:
    text = (
        "nmae: x\n"
        "source:\n"
        "  - path: docs\n"
        "    include: ['[', '**', 7]\n"
        "    format: word\n"
        "  - id_prefix: prefix\n"
        "  - {path: more, decoding: {errors: guess}}\n"
        "chunking:\n"
        "  default: {strategy: recursiv}\n"
        "  rules:\n"
        "    - {match: '*.md', strategy: markdown, max_size: none}\n"
        "    - {match: '*.md', strategy: 7}\n"
        "output: {path: table, task_bytes: 1}\n"
        "limits: {max_bytes: lots, seconds: -1}\n"
        "guard: {documents: -1, percent: 200}\n"
        "gates: {failed_documents: {soft: 1}}\n"
        "storage: {s3: {key: $x}}\n"
    )
    with pytest.raises(ConfigError) as caught:
        config_from(parse(text.encode(), "c.yaml"), {})
    assert [(problem.line, problem.key) for problem in caught.value.problems] == [
        (1, "nmae"),
        (4, "source[0].include[0]"),
        (4, "source[0].include[2]"),
        (5, "source[0].format"),
        (6, "source[1]"),
        (7, "source[2].decoding.errors"),
        (9, "chunking.default.strategy"),
        (11, "chunking.rules[0].max_size"),
        (12, "chunking.rules[1].strategy"),
        (13, "output.task_bytes"),
        (14, "limits.max_bytes"),
        (14, "limits.seconds"),
        (15, "guard.documents"),
        (15, "guard.percent"),
        (16, "gates.failed_documents.soft"),
    ]
    assert str(caught.value).splitlines() == [str(problem) for problem in caught.value.problems]
    assert str(caught.value).startswith("c.yaml:1: nmae is not a key of the configuration (did you mean 'name'?)")


def test_a_missing_part_hides_no_other_problem() -> None:
    text = b"source: []\nguard: {percent: x}\nbeam: {}\nlimits_: 1\nlimits: 2\n"
    with pytest.raises(ConfigError) as caught:
        config_from(parse(text, "c.yaml"), {})
    found = [str(problem).removeprefix("c.yaml:") for problem in caught.value.problems]
    assert [message.partition(";")[0] for message in found] == [
        "1: source is an empty list",
        "1: the key 'output' is missing",
        "2: guard.percent is 'x'",
        "3: beam has no 'runner'",
        "4: limits_ is not a key of the configuration (did you mean 'limits'?)",
        "5: limits is 2",
    ]
