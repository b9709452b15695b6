"""The command from outside: what it prints, where, and how it exits."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pipelines.__main__ import main
from pipelines.cli.main import guarded
from pipelines.observe.console import Console

ROOT = Path(__file__).parents[3]
CONFIG = """\
source:
  - path: docs
chunking:
  default: {strategy: recursive, max_size: 40, overlap: 0}
output: {path: table}
"""


def make_project(folder: Path) -> None:
    """Three documents and a configuration."""
    (folder / "docs").mkdir()
    (folder / "docs/a.md").write_text("# One\n\nThe first paragraph is here.\n\nThe second paragraph is here.\n")
    (folder / "docs/b.txt").write_text("Only one chunk.\n")
    (folder / "docs/empty.txt").write_text("")
    (folder / "c.yaml").write_text(CONFIG)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project as the working directory, nothing run yet."""
    monkeypatch.chdir(tmp_path)
    make_project(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def published_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project after one run."""
    folder = tmp_path_factory.mktemp("published")
    make_project(folder)
    running = process("run", "c.yaml", cwd=folder)
    assert running.communicate()[1] == f"{folder}/table: committed version 0\n"
    return folder


@pytest.fixture
def published(published_once: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project after one run, as the working directory: only to be read."""
    monkeypatch.chdir(published_once)
    return published_once


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[Any]]:
    code, out, _ = call(capsys, "--output", "json", *arguments)
    return code, [json.loads(line) for line in out.splitlines()]


def test_a_first_run_says_what_it_did(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "run", "c.yaml")
    assert code == 0
    *lines, (name, seconds) = [line.split() for line in out.splitlines()[1:]]
    assert name == "seconds"
    assert 0 < float(seconds) < 600
    assert lines == [
        ["documents", "listed", "3"],
        ["chunked", "2"],
        ["empty", "1"],
        ["unchanged", "0"],
        ["failed", "0"],
        ["chunks", "3"],
        ["added", "3"],
        ["changed", "0"],
        ["moved", "0"],
        ["deleted", "0"],
        ["table", "version", "0"],
        ["bytes", "read", "83"],
    ]
    assert err == f"{project}/table: committed version 0\n"


def test_a_second_run_has_nothing_to_do(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settle(project)
    call(capsys, "run", "c.yaml")
    code, (outcome,) = as_json(capsys, "run", "c.yaml")
    assert code == 0
    assert (outcome["committed"], outcome["version"], outcome["message"]) == (False, 0, "nothing changed")
    assert outcome["summary"]["unchanged"] == 3


def settle(project: Path) -> None:
    """Make the documents old enough for their times to be trusted."""
    for path in (project / "docs").iterdir():
        os.utime(path, (1_700_000_000, 1_700_000_000))
    time.sleep(0.03)


def test_changes_are_net_upserts_with_rows_and_deletions(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "run", "c.yaml")
    (project / "docs/a.md").write_text("# One\n\nThe first paragraph is here.\n")
    (project / "docs/c.txt").write_text("New \x1b[31m here.\n")
    call(capsys, "run", "c.yaml")
    (project / "docs/b.txt").write_text("Only one changed chunk.\n")
    call(capsys, "run", "c.yaml")
    code, lines = as_json(capsys, "changes", "table", "--since", "0")
    assert code == 0
    assert [(line["op"], line["id"]) for line in lines] == [
        ("upsert", "a.md#0"),  # the same text, but it ends with the document now
        ("upsert", "b.txt#0"),
        ("upsert", "c.txt#0"),
        ("delete", "a.md#1"),
    ]
    assert lines[1]["text"] == "Only one changed chunk."
    assert lines[3] == {"op": "delete", "id": "a.md#1", "parent_id": "a.md", "chunk_index": 1}
    code, out, err = call(capsys, "changes", "c.yaml", "--since", "1")
    assert (code, out) == (0, "upsert  b.txt#0  Only one changed chunk.\n")
    assert err == "1 to upsert and 0 to delete from version 1 to version 2\n"
    code, out, err = call(capsys, "changes", "table", "--since", "0")
    assert "upsert  c.txt#0  New \\x1b[31m here.\n" in out


def test_changes_since_a_version_that_is_not_there(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "changes", "table", "--since", "7")
    assert (code, out) == (6, "")
    assert err == f"error: {published}/table: there is no version 7; the table has versions 0 to 0\n"


def test_files_are_the_live_ones(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, (outcome,) = as_json(capsys, "show", "table")
    folder = f"{published}/table/chunks/{outcome['run_id']}"
    assert call(capsys, "files", "table") == (0, f"{folder}/part-00000-of-00001.parquet\n", "")
    assert call(capsys, "files", "c.yaml", "--folder") == (0, f"{folder}\n", "")
    _, (live,) = as_json(capsys, "files", "table")
    assert (live["rows"], live["bytes"]) == (3, os.path.getsize(live["address"]))


def test_an_option_of_another_command_shows_the_usage_of_this_one(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "watch", "c.yaml", "--objects", "x")
    assert code == 2
    assert err.startswith("usage: rechunk watch ")
    assert err.endswith("rechunk watch: error: unrecognized arguments: --objects x\n")


def test_validate_tells_all_that_is_wrong(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (project / "c.yaml").open("a") as config:
        config.write("\nguard: {percent: 200}\nlimits: {seconds: never}\n")
    code, _, err = call(capsys, "validate", "c.yaml")
    assert (code, [line.split()[:3:2] for line in err.splitlines()]) == (
        2,
        [["error:", "guard.percent"], ["error:", "limits.seconds"]],
    )
    main(["--output", "json", "validate", "c.yaml"])
    fault = json.loads(capsys.readouterr().err)
    assert [problem["key"] for problem in fault["problems"]] == ["guard.percent", "limits.seconds"]
    assert fault["key"] == "guard.percent"


def test_show_a_document_and_a_chunk(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, (shown,) = as_json(capsys, "show", "table", "--document", "a.md")
    assert (shown["document"]["status"], shown["document"]["chunk_count"]) == ("chunked", 2)
    assert [(chunk["start_index"], chunk["end_index"], chunk["cut"]) for chunk in shown["chunks"]] == [
        (0, 35, "blank-line"),
        (37, 66, "document-end"),
    ]
    _, (chunk,) = as_json(capsys, "show", "table", "--chunk", "a.md#1")
    assert (chunk["id"], chunk["text"]) == ("a.md#1", "The second paragraph is here.")
    code, out, _ = call(capsys, "show", "c.yaml", "--document", "a.md")
    assert code == 0
    assert out.splitlines()[-1].split() == [
        "1",
        "37",
        "66",
        "document-end",
        "–",
        "The",
        "second",
        "paragraph",
        "is",
        "here.",
    ]
    code, out, _ = call(capsys, "show", "c.yaml", "--chunk", "a.md#1")
    assert out.endswith("\ntext:\nThe second paragraph is here.\n")
    assert dict(line.split(maxsplit=1) for line in out.splitlines()[:-2] if line)["headings"] == "–"


def test_show_says_why_a_document_failed_and_names_counters_in_full(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "docs/packed.7z").write_bytes(b"7z\xbc\xaf\x27\x1c" + bytes(60))
    call(capsys, "run", "c.yaml")
    _, out, _ = call(capsys, "show", "table", "--document", "packed.7z")
    assert out.splitlines()[-3:] == ["message      not text: a 7-Zip archive; unpack it first", "", "no chunks"]
    _, (shown,) = as_json(capsys, "show", "table", "--document", "packed.7z")
    assert (shown["failure"], shown["chunks"]) == ("not text: a 7-Zip archive; unpack it first", [])
    _, out, _ = call(capsys, "show", "table")
    assert "counts.documents.docs.failed" in out


def test_more_failures_than_are_shown_are_counted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(23):
        (project / f"docs/{number:02}.7z").write_bytes(b"7z\xbc\xaf\x27\x1c" + bytes(60))
    _, _, err = call(capsys, "run", "c.yaml")
    assert [line for line in err.splitlines() if line.startswith("failed: ")][19:] == [
        "failed: 19.7z: binary: not text: a 7-Zip archive; unpack it first",
        "failed: 3 more; the table's failures name every one",
    ]


def test_globs_that_take_nothing_are_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "c.yaml").write_text(CONFIG.replace("path: docs\n", 'path: docs\n    include: ["*.rst"]\n'))
    code, _, err = call(capsys, "run", "c.yaml")
    assert code == 0
    assert "warning: no document was found: no object of a source matches its include and exclude\n" in err


def test_documents_that_no_source_takes_any_more_are_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "run", "c.yaml")
    taken = len(list((project / "docs").iterdir()))
    (project / "docs/new.rst").write_text("new\n")
    (project / "c.yaml").write_text(CONFIG.replace("path: docs\n", 'path: docs\n    include: ["*.rst"]\n'))
    told = f"{taken} objects that no source takes any more keep their chunks; --prune lets them go\n"
    for command in ("plan", "run"):
        _, _, err = call(capsys, command, "c.yaml")
        assert told in err
    _, _, err = call(capsys, "run", "c.yaml", "--prune", "--approve-deletions", str(taken))
    assert "no source takes" not in err


def test_show_an_older_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, (first,) = as_json(capsys, "run", "c.yaml")
    (project / "docs/b.txt").write_text("Changed.\n")
    call(capsys, "run", "c.yaml")
    _, (chunk,) = as_json(capsys, "show", "table", "--chunk", "b.txt#0", "--run", first["run_id"])
    assert chunk["text"] == "Only one chunk."
    _, (chunk,) = as_json(capsys, "show", "table", "--chunk", "b.txt#0", "--run", "latest")
    assert chunk["text"] == "Changed."


def test_show_an_older_version(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, (first,) = as_json(capsys, "run", "c.yaml")
    (project / "docs/b.txt").write_text("Changed.\n")
    call(capsys, "run", "c.yaml")
    _, (chunk,) = as_json(capsys, "show", "table", "--chunk", "b.txt#0", "--version", "0")
    assert chunk["text"] == "Only one chunk."
    _, (chunk,) = as_json(capsys, "show", "table", "--chunk", "b.txt#0", "--version", "1")
    assert chunk["text"] == "Changed."
    _, (outcome,) = as_json(capsys, "show", "table", "--version", "0")
    assert (outcome["run_id"], outcome["version"]) == (first["run_id"], 0)
    code, _, err = call(capsys, "show", "table", "--version", "2")
    assert (code, err) == (6, f"error: {project}/table: there is no version 2; the table has versions 0 to 1\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--document", "none.md"), "{table}: version 0 has no document 'none.md'"),
        (("--chunk", "a.md#9"), "{table}: version 0 has no chunk 'a.md#9'"),
        (("--chunk", "a.md"), "'a.md' is not the id of a chunk; they look like guide/start.md#0"),
        (("--run", "x"), "{table}: there is no outcome of a run 'x'"),
        (("--run", "../x"), "'../x' is not the id of a run; they look like 20260131T235959Z-1f2e3d4c"),
        (("--run", "x", "--chunk", "a.md#0"), "{table}: the run 'x' committed nothing"),
    ],
)
def test_show_what_is_not_there(
    published: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = call(capsys, "show", "table", *arguments)
    assert (code, out, err) == (2, "", f"error: {message.format(table=f'{published}/table')}\n")


@pytest.mark.parametrize("command", [["show"], ["files"], ["changes", "--since", "0"]])
def test_no_table_is_exit_6(project: Path, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    code, out, err = call(capsys, *command, "none")
    assert (code, out) == (6, "")
    assert err.startswith(f"error: {project}/none: holds no ")


def test_validate(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "validate", "c.yaml")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "c.yaml is valid."
    (project / "d.yaml").write_text(CONFIG.replace("path: docs\n", 'path: docs\n    exclude: ["a b", "c"]\n'))
    _, out, _ = call(capsys, "validate", "d.yaml")
    assert "docs    **       a b, c\n" in out
    code, (found,) = as_json(capsys, "validate", "c.yaml")
    assert found["rules"] == [{"match": "(default)", "strategy": "recursive"}]
    code, out, _ = call(capsys, "validate", "--schema")
    assert json.loads(out)["title"] == "rechunk configuration"


def test_a_wrong_configuration_is_exit_2_and_reads_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "c.yaml").write_text(CONFIG.replace("max_size: 40", "max_size: -1"))
    for command in ("run", "validate"):
        code, out, err = call(capsys, command, "c.yaml")
        assert (code, out) == (2, "")
        assert err == (
            "error: c.yaml:4: chunking.default.max_size is -1; max_size must be an integer of at least 1, or null\n"
        )
    assert not (project / "table").exists()
    code, out, err = call(capsys, "run", "c.yaml", "--output", "json")
    message = "c.yaml:4: chunking.default.max_size is -1; max_size must be an integer of at least 1, or null"
    problem = {"message": message, "file": "c.yaml", "line": 4, "key": "chunking.default.max_size"}
    assert json.loads(err) == {"error": "ConfigError", "exit_code": 2, **problem, "problems": [problem]}


USAGE = [
    ([], "the following arguments are required: COMMAND"),
    (["runn", "c.yaml"], "argument COMMAND: invalid choice: 'runn'"),
    (["run"], "the following arguments are required: CONFIG"),
    (["run", "c.yaml", "--approve-deletions", "many"], "'many' is not a whole number, 0 or more"),
    (["run", "c.yaml", "--workers", "0"], "'0' is neither auto nor a whole number above 0"),
    (["run", "c.yaml", "--ful"], "unrecognized arguments: --ful"),
    (["changes", "table"], "the following arguments are required: --since"),
    (["changes", "table", "--since", "-1"], "'-1' is not a version; versions are whole numbers from 0"),
    (["show", "table", "--document", "a", "--chunk", "b"], "not allowed with argument"),
    (["show", "table", "--run", "latest", "--version", "0"], "not allowed with argument"),
    (["validate"], "one of the arguments CONFIG --schema is required"),
    (["files", "t", "--output", "xml"], "invalid choice: 'xml'"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE)
def test_usage_is_exit_2(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_percent_in_a_tables_address_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "files", "my%20table")
    assert (code, err) == (
        2,
        "error: my%20table: a table's address cannot hold '%'; readers decode it differently\n",
    )


def test_withheld_deletions_are_exit_4_and_can_be_approved(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "run", "c.yaml")
    for path in (project / "docs").iterdir():
        path.unlink()
    code, (outcome,) = as_json(capsys, "run", "c.yaml")
    assert (code, outcome["summary"]["withheld"], outcome["summary"]["deleted"]) == (4, 2, 0)
    code, (outcome,) = as_json(capsys, "run", "c.yaml", "--approve-deletions", "2")
    assert (code, outcome["summary"]["withheld"], outcome["summary"]["deleted"]) == (0, 0, 3)


@pytest.mark.parametrize(
    ("limits", "code", "committed"),
    [("soft: 50%", 0, True), ("soft: 10%", 1, True), ("soft: 1%, hard: 10%", 5, False)],
)
def test_gates(project: Path, capsys: pytest.CaptureFixture[str], limits: str, code: int, committed: bool) -> None:
    (project / "c.yaml").write_text(f"{CONFIG}gates: {{failed_documents: {{{limits}}}}}\n")
    (project / "docs/binary.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\r")
    found, (outcome,) = as_json(capsys, "run", "c.yaml")
    assert (found, outcome["committed"]) == (code, committed)
    assert (project / "table/chunks/_delta_log").exists() is committed


def test_a_run_that_a_gate_stopped_tells_the_chunks_that_the_table_has(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, (before,) = as_json(capsys, "run", "c.yaml")
    (project / "c.yaml").write_text(f"{CONFIG}gates: {{failed_documents: {{hard: 1%}}}}\n")
    (project / "docs/binary.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\r")
    code, (outcome,) = as_json(capsys, "run", "c.yaml")
    assert (code, outcome["version"]) == (5, 0)
    assert outcome["summary"]["chunks"] == before["summary"]["chunks"] > 0


def test_failed_documents_are_named_and_exit_0(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "docs/binary.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\r")
    code, out, err = call(capsys, "run", "c.yaml")
    assert code == 0
    assert ["failed", "1"] in [line.split() for line in out.splitlines()]
    assert "failed: binary.txt: binary: " in err


def test_unreachable_sources_are_exit_5(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "c.yaml").write_text(CONFIG.replace("path: docs", "path: nowhere"))
    code, out, err = call(capsys, "run", "c.yaml")
    assert (code, out) == (5, "")
    assert "error: nowhere: no source could be listed; nothing was read\n" in err


def test_strategies(capsys: pytest.CaptureFixture[str]) -> None:
    code, (found,) = as_json(capsys, "strategies")
    assert code == 0
    assert {"auto", "character", "fixed", "recursive"} <= {strategy["name"] for strategy in found}
    code, (one,) = as_json(capsys, "strategies", "recursive")
    by_name = {option["name"]: option for option in one["options"]}
    assert by_name["max_size"] == {
        "name": "max_size",
        "type": "whole number or null",
        "required": False,
        "default": 4000,
        "unit": "unit",
    }
    assert by_name["unit"]["type"] == "characters | tokens | words | bytes"
    _, (token,) = as_json(capsys, "strategies", "token")
    said = {option["name"]: (option["type"], option["unit"]) for option in token["options"]}
    assert said["max_size"] == ("whole number or null", "tokens")
    assert said["allowed_special"] == ("list of text or all or null", None)
    assert "`max_size` null is unbounded" in " ".join(token["help"].split())
    assert not token["help"].startswith("Options of")
    code, out, err = call(capsys, "strategies", "recursiv")
    assert (code, out) == (2, "")
    assert err.startswith("error: unknown strategy 'recursiv' (did you mean 'recursive'?); strategies: auto, ")


def test_a_bug_is_exit_70_and_says_how_to_report_it() -> None:
    def broken() -> int:
        raise ZeroDivisionError("nothing to divide by")

    out, err = io.StringIO(), io.StringIO()
    assert guarded(broken, Console(out=out, err=err)) == 70
    assert err.getvalue() == (
        "error: internal error: ZeroDivisionError: nothing to divide by\n"
        "This is a bug in rechunk. Please report it with the output of the same command with --debug.\n"
    )
    err = io.StringIO()
    assert guarded(broken, Console(out=out, err=err, debug=True)) == 70
    assert err.getvalue().startswith("Traceback (most recent call last):\n")


def test_an_error_of_ours_that_the_engine_wrapped_keeps_its_exit_code() -> None:
    from pipelines.errors import StorageError

    def step() -> int:
        try:
            raise StorageError("cannot be written: disk full", address="table/x")
        except StorageError:
            raise RuntimeError("StorageError: table/x: … [while running 'Publish']")  # noqa: B904  as Beam does

    err = io.StringIO()
    assert guarded(step, Console(out=io.StringIO(), err=err)) == 5
    assert err.getvalue() == "error: table/x: cannot be written: disk full\n"


def process(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("environment", {})}
    return subprocess.Popen(
        [sys.executable, "-m", "pipelines", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment,
        **options,
    )


def test_version_and_help_from_a_shell() -> None:
    running = process("--help")
    out, err = running.communicate()
    assert (running.returncode, err) == (0, "")
    assert out.startswith("usage: rechunk ")


@pytest.mark.parametrize(
    ("moment", "workers"),
    [
        ("table/runs", "1"),
        ("table/runs/*/attempts", "2"),
        pytest.param("table/runs", "2", marks=pytest.mark.slow),
        pytest.param("table/runs/*/attempts", "1", marks=pytest.mark.slow),
    ],
)
def test_interrupted_is_exit_130(project: Path, moment: str, workers: str) -> None:
    running = run_until(project, moment, workers)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert err == "interrupted; the table is as the last commit left it\n"


@pytest.mark.parametrize(
    ("number", "code", "how"), [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")]
)
def test_a_run_that_is_told_to_end_gives_up_its_claim(project: Path, number: int, code: int, how: str) -> None:
    running = run_until(project, "table/runs/*/attempts", "1")
    assert len(list(project.glob("table/claims/*"))) == 1
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (code, "")
    assert err == f"{how}; the table is as the last commit left it\n"
    assert list(project.glob("table/claims/*")) == []


def run_until(project: Path, moment: str, workers: str) -> subprocess.Popen[str]:
    """A run over much text, once there is a file that matches `moment`."""
    for number in range(20):
        (project / f"docs/{number}.txt").write_text("word " * 200_000)
    config = (project / "c.yaml").read_text()
    (project / "c.yaml").write_text(config.replace("{path: table}", "{path: table, task_bytes: 1MB}"))
    running = process("run", "c.yaml", "--workers", workers)
    deadline = time.monotonic() + 60
    while not list(project.glob(moment)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return running


def test_a_closed_stdout_is_no_error(published: Path) -> None:
    running = process("changes", "table", "--since", "0")
    assert running.stdout is not None
    running.stdout.close()
    assert running.wait(timeout=60) == 0
    assert running.stderr is not None
    assert "rror" not in running.stderr.read().replace("0 to upsert", "")
    running.stderr.close()


def test_a_terminal_that_cannot_show_a_character_gets_an_escape(project: Path) -> None:
    (project / "docs/漢.txt").write_text("字\n", encoding="utf-8")
    running = process("run", "c.yaml", environment={"PYTHONIOENCODING": "ascii"})
    assert running.communicate()[1] == f"{project}/table: committed version 0\n"
    running = process("show", "table", "--chunk", "漢.txt#0", environment={"PYTHONIOENCODING": "ascii"})
    out, err = running.communicate()
    assert (running.returncode, err) == (0, "")
    assert out.endswith("text:\n\\u5b57\n")


@pytest.mark.parametrize("name", ["minimal.yaml", "nightly.yaml"])
def test_shipped_configurations_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CORPUS", "examples/corpus")
    monkeypatch.setenv("TABLE", "nightly")
    (tmp_path / "examples/corpus/data").mkdir(parents=True)
    for folder in ("handbook", "contracts"):
        (tmp_path / "examples/corpus" / folder).mkdir()
        (tmp_path / "examples/corpus" / folder / "a.md").write_text("# Title\n\nText.\n")
    code, (outcome,) = as_json(capsys, "run", str(ROOT / "configs" / name))
    assert (code, outcome["summary"]["listed"], outcome["summary"]["chunked"]) == (0, 2, 2)
    _, (shown,) = as_json(capsys, "show", outcome["summary"]["table"], "--document", "handbook/a.md")
    assert shown["document"]["chunk_count"] >= 1
