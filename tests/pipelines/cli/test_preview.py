"""`rechunk preview`: what it shows, what it refuses, and that nothing in a document comes alive."""

from __future__ import annotations

import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pipelines.__main__ import main
from pipelines.errors import UsageError
from pipelines.operations.preview import pieces, preview_file
from pipelines.operations.preview_choice import options_from

TEXT = "# One\n\nAlpha beta gamma delta.\n\n# Two\n\nEpsilon zeta eta theta iota kappa. Lambda mu nu xi omicron.\n"


@pytest.fixture
def document(tmp_path: Path) -> Path:
    file = tmp_path / "a.md"
    file.write_text(TEXT, encoding="utf-8")
    return file


def test_chunks_are_shown_with_what_is_known_of_them(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", str(document), "--set", "max_size=50", "--set", "overlap=20"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[4:6] == ["characters  99", "chunks      3"]
    heads = [line for line in shown if line.startswith("#") and "tokens" in line]
    assert heads == [
        "#0  0-30  30 characters  8 tokens  ends at heading  One",
        "#1  32-73  41 characters  12 tokens  ends at sentence  Two",
        "#2  56-98  42 characters  12 tokens  ends at document-end  repeats 17  Two",
    ]
    assert "\x1b" not in "".join(shown)  # no terminal, no colour


def test_json_is_what_the_library_finds(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", str(document), "--strategy", "recursive", "--set", "max_size=40", "--output", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["strategy"] == "recursive"
    for chunk in shown["chunks"]:
        assert chunk["text"] == TEXT[chunk["start"] : chunk["end"]]
        assert chunk["length"] == chunk["end"] - chunk["start"] <= 40


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--set", "max_sise=3"], "did you mean 'max_size'"),
        (["--set", "max_size"], "option=value"),
        (["--set", "max_size=[1"], "not YAML"),
        (["--strategy", "markdwon"], "markdown"),
        (["--encoding", "latin-1"], "--encoding 'latin-1': it names what tokens are counted in, one of cl100k_base, "),
    ],
)
def test_what_cannot_be_is_refused(
    document: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["preview", str(document), *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_missing_file_and_a_binary_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", str(tmp_path / "none.md")]) == 2
    assert main(["preview", str(tmp_path)]) == 2
    (tmp_path / "x.pdf").write_bytes(b"%PDF-1.7\n\x00\x01")
    assert main(["preview", str(tmp_path / "x.pdf")]) == 2
    assert "x.pdf" in capsys.readouterr().err


CONFIG = """
source:
  - {path: docs, exclude: ["drafts/**"], id_prefix: d/}
  - {path: one.txt, id_prefix: o/, decoding: {encoding: cp1252}}
chunking:
  default: {strategy: auto, max_size: 60, overlap: 0}
  rules: [{match: "d/short/**", strategy: recursive, max_size: 20, overlap: 0}]
tokens: {encoding_name: o200k_base}
output: {path: table}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("docs/a.md", "docs/short/b.md", "docs/drafts/c.md", "elsewhere/d.md"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(TEXT, encoding="utf-8")
    Path("docs/linked.md").symlink_to("../elsewhere/d.md")
    Path("one.txt").write_bytes("naïve".encode("cp1252"))
    Path("c.yaml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def test_with_a_configuration_it_shows_what_a_run_makes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "c.yaml"]) == 0
    files = {"docs/a.md": "d/a.md", "docs/short/b.md": "d/short/b.md", "docs/linked.md": "d/linked.md"}
    for file, id_ in {**files, "one.txt": "o/one.txt", f"{project}/docs/a.md": "d/a.md"}.items():
        capsys.readouterr()
        assert main(["preview", file, "--config", "c.yaml", "--output", "json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert main(["show", "c.yaml", "--document", id_, "--output", "json"]) == 0
        stored = json.loads(capsys.readouterr().out)
        assert (shown["id"], shown["encoding"]) == (id_, stored["document"]["encoding"])
        assert [(each["start"], each["end"], each["tokens"]) for each in shown["chunks"]] == [
            (each["start_index"], each["end_index"], each["token_count"]) for each in stored["chunks"]
        ]
    assert preview_file("docs/short/b.md", config_file="c.yaml").rule == "d/short/**"
    assert preview_file("docs/a.md", config_file="c.yaml").rule == "(default)"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["docs/drafts/c.md", "--config", "c.yaml"], "docs/drafts/c.md: no source of c.yaml takes it"),
        (["elsewhere/d.md", "--config", "c.yaml"], "elsewhere/d.md: no source of c.yaml takes it"),
        (["docs/none.md", "--config", "c.yaml"], "docs/none.md: No such file or directory"),
        (["docs/a.md", "--config", "no.yaml"], "no.yaml: cannot be read: No such file or directory"),
        (
            ["docs/a.md", "--config", "c.yaml", "--set", "max_size=5"],
            "--config says how to chunk, and so do --strategy and --set; leave out one of them",
        ),
    ],
)
def test_what_a_configuration_does_not_chunk(
    arguments: list[str], said: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["preview", *arguments]) == 2
    assert capsys.readouterr().err == f"error: {said}\n"


def test_an_address_is_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", "s3://bucket/a.md"]) == 2
    assert (
        capsys.readouterr().err == "error: s3://bucket/a.md: preview reads a file on this machine; copy it here first\n"
    )


def test_dotted_settings_nest() -> None:
    assert options_from(["max_size=9", "per_type.markdown.overlap=0", "per_type.markdown.unit=words"]) == {
        "max_size": 9,
        "per_type": {"markdown": {"overlap": 0, "unit": "words"}},
    }
    with pytest.raises(UsageError, match="has a value already"):
        options_from(["a=1", "a.b=2"])


def test_pieces_are_the_whole_document_in_order(document: Path) -> None:
    found = preview_file(
        str(document), settings=["max_size=50", "overlap=20", "headers=[['#', title]]"], strategy="markdown"
    )
    parts = pieces(found)
    assert "".join(TEXT[piece.start : piece.end] for piece in parts) == TEXT
    assert {piece.drop for piece in parts} == {None, "heading"}
    for number, span in enumerate(found.spans):
        mine = [piece for piece in parts if number in (piece.chunk, piece.repeated_in)]
        assert (mine[0].start, mine[-1].end) == (span.start, span.end)
    assert [TEXT[piece.start : piece.end] for piece in parts if piece.repeated_in is not None] == ["theta iota kappa."]


class _Alive(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_the_page_holds_the_document_and_none_of_its_markup(tmp_path: Path) -> None:
    evil = '# <script>alert(1)</script>\n\n<img src=x onerror=alert(1)> "quoted" \x1b[2J \u202e &amp; </pre></title>\n'
    file = tmp_path / "<b>.md"
    file.write_text(evil, encoding="utf-8")
    target = tmp_path / "page.html"
    assert main(["preview", str(file), "--html", str(target)]) == 0
    found = target.read_text(encoding="utf-8")
    parser = _Alive()
    parser.feed(found)
    assert parser.tags <= {"html", "head", "meta", "title", "style", "body", "h1", "dl", "dt", "dd", "p", "span"} | {
        "pre",
        "section",
        "h2",
    }
    assert not {name for name in parser.attributes if name.startswith("on") or name in ("src", "href")}
    assert "Content-Security-Policy" in found
    assert not re.search("[\x1b\u202e]", found)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in found


def test_a_file_of_records_is_shown_as_one_text_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(b'{"id": "a", "text": "Alpha."}\n'))
    (note,) = preview_file(str(file)).notes
    assert "a run reads its records as documents" in note


def test_a_file_that_is_missing_is_named_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = str(tmp_path / "none.md")
    assert main(["preview", missing]) == 2
    assert capsys.readouterr().err == f"error: {missing}: No such file or directory\n"
