"""Bytes to text: what is read, as what, and what is refused."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

import pytest

from pipelines.documents.decode import decode
from pipelines.documents.failures import DocumentFailure

CORPUS = Path(os.environ.get("RECHUNK_CORPUS", Path(__file__).parents[4] / "shared" / "corpus"))

FRENCH = "C'était très beau là-bas, à la plage. Où êtes-vous allés après l'été ? « Nulle part », répondit-il."
GERMAN = "Größe und Übermut tun selten gut, sagte der König zu den Brüdern."
POLISH = "Litwo! Ojczyzno moja! ty jesteś jak zdrowie; Ile cię trzeba cenić, ten tylko się dowie, kto cię stracił."
RUSSIAN = "Привет, как дела? Сегодня хорошая погода и мы идем гулять в парк."
JAPANESE = "日本語のテキストです。これは文字コードの判定を試すためのものです。"
CHINESE = "中文编码测试，这是一个很长的句子。我们要看看它能否识别。"
TRADITIONAL = "這是一個繁體中文的文件，我們要看看它能否被識別出來。"
KOREAN = "한국어 문서입니다. 이것은 인코딩을 시험하기 위한 것입니다."


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_byte_order_mark_decides_and_is_removed_once(mark: bytes, encoding: str) -> None:
    text = "\ufeffsecond mark stays\r\né\x00"
    assert decode(mark + text.encode(encoding)) == (text, encoding, 1.0)


@pytest.mark.parametrize(
    "text", ["", "plain\r\nlines\rand\n", "日本", "with \x00 a NUL", "e\u0301 is not composed", "\ufffd"]
)
def test_utf8_is_read_as_it_is(text: str) -> None:
    assert decode(text.encode()) == (text, "utf-8", 1.0)


@pytest.mark.parametrize(
    ("text", "written", "read"),
    [
        (FRENCH, "latin-1", "cp1252"),
        (GERMAN, "cp1252", "cp1252"),
        ("“quoted” – résumé", "cp1252", "cp1252"),
        ("café crème", "latin-1", "cp1252"),
        (POLISH, "cp1250", "cp1250"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8-r", "koi8_r"),
        (JAPANESE, "shift_jis", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (CHINESE, "gb2312", "gb18030"),
        (TRADITIONAL, "big5", "big5"),
        (KOREAN, "euc_kr", "cp949"),
    ],
)
def test_other_encodings_are_detected(text: str, written: str, read: str) -> None:
    decoded = decode(text.encode(written))
    assert (decoded.text, decoded.encoding) == (text, read)
    assert 0.9 <= decoded.confidence <= 1.0


def test_detection_looks_where_the_first_foreign_byte_is() -> None:
    text = "plain line\n" * 20_000 + FRENCH + "\n" + "plain line\n" * 20_000
    assert decode(text.encode("latin-1")).text == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "iso2022_jp", "shift_jis", "cp500", "utf-7"])
def test_declared_encoding_reads_what_detection_cannot(encoding: str) -> None:
    text = "ASCII only ~ + \\ text" if encoding in ("cp500", "utf-7") else JAPANESE
    assert decode(text.encode(encoding), encoding=encoding) == (text, encoding, 1.0)


def test_utf8_goes_before_a_declared_encoding_that_keeps_ascii() -> None:
    assert decode(JAPANESE.encode(), encoding="latin-1") == (JAPANESE, "utf-8", 1.0)


def test_wrong_declaration_is_a_failure_with_the_place() -> None:
    with pytest.raises(DocumentFailure) as caught:
        decode("é".encode("latin-1"), encoding="shift_jis")
    assert (caught.value.error, caught.value.position) == ("decode", "0")
    assert "the source declares it" in str(caught.value)


def test_damaged_utf8_is_no_other_encoding() -> None:
    damaged = (JAPANESE * 3).encode()[:-1]
    with pytest.raises(DocumentFailure) as caught:
        decode(damaged)
    assert caught.value.error == "decode"
    assert "damaged UTF-8" in str(caught.value)
    repaired = decode(damaged, errors="replace")
    assert repaired.text == (JAPANESE * 3)[:-1] + "\ufffd"
    assert (repaired.encoding, repaired.confidence) == ("utf-8+replaced", round(1 - 1 / len(JAPANESE * 3), 4))


def test_broken_text_after_a_mark_is_replaced_only_on_request() -> None:
    data = codecs.BOM_UTF16_LE + "a".encode("utf-16-le") + b"\x00\xd8"
    with pytest.raises(DocumentFailure) as caught:
        decode(data)
    assert caught.value.error == "decode"
    assert decode(data, errors="replace").text == "a\ufffd"


@pytest.mark.parametrize(
    ("data", "pointer"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF; extract its text first, or name an `extractor` for its source"),
        (b"PK\x03\x04\x14\x00", "DOCX"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "old Office"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"\xff\xd8\xff\xe0", "JPEG"),
        (b"GIF89a", "GIF"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image"),
        (b"\x1f\x8b\x08\x00", "decompress"),
        (b"BZh91AY&SY", "decompress"),
        (b"\x28\xb5\x2f\xfd", "decompress"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"\x7fELF\x02", "program"),
        (b"SQLite format 3\x00", "SQLite"),
        (b"ID3\x03\x00", "MP3"),
        (b"\x00\x00\x00\x18ftypmp42", "film"),
        (bytes(range(256)) * 16, "control characters"),
        (("b" + "\x01" * 30).encode("utf-16-le"), "control characters"),
    ],
)
def test_what_is_no_text_is_refused_with_a_pointer(data: bytes, pointer: str) -> None:
    with pytest.raises(DocumentFailure, match="not text") as caught:
        decode(data)
    assert caught.value.error == "binary"
    assert pointer in str(caught.value)
    with pytest.raises(DocumentFailure):
        decode(data, errors="replace")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    ["no mark", "a", FRENCH, RUSSIAN + "\r\n", JAPANESE + "\n一" + JAPANESE, "한국어 문서", "naïve 😁\n" * 20_000],
)
def test_utf16_without_its_mark_is_known_by_its_nuls(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == (text, encoding, 0.95)


def test_utf16_without_its_mark_that_ends_early_is_a_failure() -> None:
    data = ("plain text\n" * 9).encode("utf-16-le")[:-1]
    with pytest.raises(DocumentFailure, match="its NUL bytes look so") as caught:
        decode(data)
    assert (caught.value.error, caught.value.position) == ("decode", str(len(data) - 1))
    assert decode(data, errors="replace").text == ("plain text\n" * 9)[:-1] + "\ufffd"
    assert decode(data, errors="replace").encoding == "utf-16-le+replaced"


def test_stray_nuls_in_utf8_stay_and_many_are_no_text() -> None:
    text = "\0" * 5 + "x" * 100 + "日\0本"
    assert decode(text.encode()) == (text, "utf-8", 1.0)
    for text in ("a\0b\0c" * 40, "日\0本\0" * 50):
        with pytest.raises(DocumentFailure, match="not text"):
            decode(text.encode())


@pytest.mark.parametrize("text", ["ID3 tags are text about music", "PAR1 is a magic", "GIF8 me", "BZh", "%PDF", "MM*"])
def test_text_about_formats_is_text(text: str) -> None:
    assert decode(text.encode()).text == text


@pytest.mark.slow
def test_every_file_of_the_corpus_is_read() -> None:
    if not CORPUS.exists():
        pytest.skip("no corpus")
    for file in sorted(path for path in CORPUS.rglob("*") if path.is_file()):
        data = file.read_bytes()
        decoded = decode(data)
        if decoded.encoding == "utf-8":
            assert decoded.text.encode() == data.removeprefix(codecs.BOM_UTF8)
