"""An object's bytes to a document's text: compression, extractor, decoding, in this order."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from examples.extractor.docx_text import to_markdown
from pipelines.__main__ import main
from pipelines.config.model import Budget, Decoding, Extractor, Source
from pipelines.documents.extract import ExtractorError, load_extractor
from pipelines.documents.failures import DocumentFailure
from pipelines.documents.read import Text, read_document

SOURCE = Source(path="docs")
DOCX = Source(path="docs", extractor=Extractor(function="examples.extractor.docx_text:to_markdown", version="1"))


def failure(data: bytes, source: Source = SOURCE, limits: Budget | None = None) -> tuple[str, str]:
    with pytest.raises(DocumentFailure) as caught:
        read_document(data, source, "a.md", limits or Budget())
    return caught.value.error, str(caught.value)


def test_plain_text_comes_with_its_bytes() -> None:
    data = "日本\r\n".encode()
    assert read_document(data, SOURCE, "a.md", Budget()) == Text("日本\r\n", "utf-8", 1.0, "a.md", None, data)


def test_compressed_text_is_recorded_and_its_name_does_not_hide_the_type() -> None:
    source = Source(path="docs", decoding=Decoding(encoding="cp1252"))
    text = read_document(gzip.compress("naïve".encode("cp1252")), source, "x/a.md.gz", Budget())
    assert text == Text("naïve", "gzip+cp1252", 1.0, "x/a.md", None, None)
    assert read_document(gzip.compress(b"x"), SOURCE, "a.md", Budget()).path == "a.md"
    assert read_document(b"x", SOURCE, "a.md.gz", Budget()).path == "a.md.gz"  # its name lies


def test_compressed_twice_is_no_text() -> None:
    error, message = failure(gzip.compress(gzip.compress(b"x")))
    assert (error, message) == (
        "binary",
        "not text: gzip data; decompress it first (a run does, but not twice, nor what is damaged)",
    )


def test_limits_hold_for_what_comes_out() -> None:
    limits = Budget(max_bytes=1024)
    assert failure(b"x" * 1025, limits=limits) == ("too-large", "1025 bytes of 1024 (limits.max_bytes); split it")
    assert failure(gzip.compress(b"x" * 1025), limits=limits)[0] == "too-large"
    assert read_document(b"x" * 1024, SOURCE, "a", limits).text == "x" * 1024


def docx(body: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>')
    return file.getvalue()


LETTER = docx(
    '<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Tide &amp; time</w:t></w:r></w:p>'
    "<w:p><w:r><w:t>Twice a </w:t></w:r><w:r><w:t>day.</w:t><w:br/><w:t>Nearly.</w:t></w:r></w:p><w:p/>"
    "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>gulls</w:t></w:r></w:p>"
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a|b</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr>"
    "<w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>2</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
)


def test_an_extractor_makes_markdown_of_what_is_no_text() -> None:
    assert failure(LETTER)[0] == "binary"
    assert "or name an `extractor`" in failure(LETTER)[1]
    text = read_document(LETTER, DOCX, "letter.docx", Budget())
    assert text.text == "## Tide & time\n\nTwice a day.\nNearly.\n\n- gulls\n\n| a\\|b |  |\n| --- | --- |\n| 1 | 2 |\n"
    assert text[1:] == ("extractor", 1.0, None, "text/markdown", None)
    assert read_document(gzip.compress(LETTER), DOCX, "letter.docx.gz", Budget()).encoding == "gzip+extractor"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"plain",
            "examples.extractor.docx_text:to_markdown raised ValueError: not a Word document: File is not a zip file",
        ),
        (LETTER[:200], "not a zip file"),
        (docx("<w:p>"), "raised ParseError"),
    ],
)
def test_whatever_an_extractor_raises_is_a_failure_of_the_document(data: bytes, message: str) -> None:
    error, shown = failure(data, DOCX)
    assert (error, message in shown) == ("extractor", True)


def test_an_extractor_must_give_text() -> None:
    source = Source(path="docs", extractor=Extractor(function="json:loads", version="1"))
    assert failure(json.dumps([1]).encode(), source) == ("extractor", "json:loads returned a list, not text")


def test_the_example_refuses_entities() -> None:
    with pytest.raises(ValueError, match="entities"):
        to_markdown(_with_entities())


def _with_entities() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("word/document.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    return file.getvalue()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("json.loads", "is not of the form package.module:function"),
        ("json:", "is not of the form package.module:function"),
        ("json:nothing", "cannot be imported: json has no 'nothing'"),
        ("no_such_package.x:y", "cannot be imported: No module named 'no_such_package'; is its folder on PYTHONPATH?"),
        ("json:__name__", "is a str, not a function"),
    ],
)
def test_extractors_that_cannot_be_used(function: str, message: str) -> None:
    with pytest.raises(ExtractorError) as caught:
        load_extractor(function)
    assert str(caught.value) == message


def test_a_run_reads_letters_through_the_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "good.docx").write_bytes(LETTER)
    (tmp_path / "letters" / "bad.docx").write_bytes(LETTER[:-30])
    config = tmp_path / "config.yaml"
    extractor = '{function: "examples.extractor.docx_text:to_markdown", version: "1"}'
    config.write_text(
        f"source: [{{path: {tmp_path}/letters, extractor: {extractor}}}]\noutput: {{path: {tmp_path}/table}}\n", "utf-8"
    )
    assert main(["run", str(config)]) == 0
    (chunks,) = tmp_path.glob("table/chunks/*/*.parquet")
    rows = pq.read_table(chunks, partitioning=None, columns=["id", "headings", "strategy"]).to_pylist()
    assert rows == [{"id": "good.docx#0", "headings": ["Tide & time"], "strategy": "markdown"}]
    assert "bad.docx: extractor: " in capsys.readouterr().err
