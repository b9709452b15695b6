"""`sentence`: sizes, fallbacks and marks, in many languages."""

from __future__ import annotations

from typing import Any

import pytest

from chunkers import OptionError, build, chunk


def texts(text: str, **options: Any) -> list[str]:
    return [piece.text for piece in chunk(text, "sentence", **options)]


def test_max_size_is_required() -> None:
    with pytest.raises(OptionError, match="max_size"):
        build("sentence")


@pytest.mark.parametrize(
    "options",
    [
        {"max_size": 50, "min_size": 51},
        {"max_size": 50, "target_size": 51},
        {"max_size": 50, "target_size": 0},
        {"max_size": 50, "sentence_enders": "."},
        {"max_size": 50, "sentence_enders": []},
        {"max_size": 50, "sentence_enders": [""]},
        {"max_size": 50, "fallback_to_words": 1},
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=list(options)[1]):
        build("sentence", **options)


@pytest.mark.parametrize(
    ("options", "least", "wanted"),
    [
        ({"max_size": 450}, 50, 360),
        ({"max_size": 99}, 0, 79),
        ({"max_size": 99, "min_size": 10, "target_size": 99}, 10, 99),
        ({"max_size": 1}, 0, 1),
    ],
)
def test_sizes_in_use(options: dict[str, Any], least: int, wanted: int) -> None:
    found = build("sentence", **options).options  # type: ignore[attr-defined]
    assert (found.resolved_min_size, found.resolved_target_size, found.resolved_overlap) == (least, wanted, 0)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("English", "Dr. No came. He left at 5 p.m. It rained.", ["Dr. No came.", "He left at 5 p.m.", "It rained."]),
        ("German", "Am 3. Mai kam er, z. B. allein. Gut.", ["Am 3. Mai kam er, z. B. allein.", "Gut."]),
        ("French", "« Où vas-tu ? » dit-il. Chez M. Dupont !", ["« Où vas-tu ? » dit-il.", "Chez M. Dupont !"]),
        ("Russian", "Проф. Иванов живёт в г. Волгоград. Да.", ["Проф. Иванов живёт в г. Волгоград.", "Да."]),
        ("Ukrainian", "Він на вул. Шевченка. Так.", ["Він на вул. Шевченка.", "Так."]),
        ("Arabic", "وصل د. أحمد مساءً. نعم.", ["وصل د. أحمد مساءً.", "نعم."]),
        ("Hindi", "मूल्य रु. 3.50 है। हाँ।", ["मूल्य रु. 3.50 है।", "हाँ।"]),
        ("Spanish", "Vive en la Av. Juárez, núm. 5 B. Sí.", ["Vive en la Av. Juárez, núm. 5 B. Sí."]),
        (
            "dates",
            "Am 3. Okt. 1990 gab es ca. 3 Mio. Euro mehr. Ja.",
            ["Am 3. Okt. 1990 gab es ca. 3 Mio. Euro mehr.", "Ja."],
        ),
        (
            "section numbers",
            "Up to 2.1. Then.\n13.3.1.\xa0Names of it.",
            ["Up to 2.1.", "Then.", "13.3.1.\xa0Names of it."],
        ),
        ("Chinese", "他說：「你好。我走了。」然後離開。天黑了。", ["他說：「你好。我走了。」然後離開。", "天黑了。"]),
        ("Chinese titles", "去看《摔跤吧！爸爸》好吗？好！", ["去看《摔跤吧！爸爸》好吗？", "好！"]),
        ("Japanese", "値は３．１４です。次へ。", ["値は３．１４です。", "次へ。"]),
        ("Korean", "안녕하세요. 저는 김입니다.", ["안녕하세요.", "저는 김입니다."]),
        ("Hindi", "डॉ. शर्मा आए। वे गए।", ["डॉ. शर्मा आए।", "वे गए।"]),
        ("Arabic", "كيف حالك؟ أنا بخير.", ["كيف حالك؟", "أنا بخير."]),
        ("Armenian", "Սա մեկն է։ Սա երկրորդն է:  Եվ:", ["Սա մեկն է։", "Սա երկրորդն է:", "Եվ:"]),
        ("Burmese", "ဒါကစာကြောင်းပါ။ ဒုတိယစာကြောင်း။", ["ဒါကစာကြောင်းပါ။", "ဒုတိယစာကြောင်း။"]),
        ("Khmer", "នេះជាប្រយោគ។ នេះទៀត។", ["នេះជាប្រយោគ។", "នេះទៀត។"]),
        ("Amharic", "ሰላም ነው። ደህና።", ["ሰላም ነው።", "ደህና።"]),
        ("footnotes", "It is a saint.[1] The next one.", ["It is a saint.[1]", "The next one."]),
        ("gaps", "It was weak . . . and then gone. Yes.", ["It was weak . . . and then gone.", "Yes."]),
    ],
)
def test_one_sentence_a_chunk(language: str, text: str, expected: list[str]) -> None:
    assert texts(text, max_size=200, min_size=0, target_size=1) == expected


@pytest.mark.parametrize(
    ("language", "text", "size", "expected"),
    [
        ("English", "a long sentence without any end", 12, ["a long", "sentence", "without any", "end"]),
        ("Korean", "띄어쓰기가 있는 긴 문장입니다", 8, ["띄어쓰기가 있는", "긴 문장입니다"]),
        ("Chinese", "员工在同一公司，服务满六个月", 8, ["员工在同一公司，", "服务满六个月"]),
        ("Thai", "ภาษาไทยเป็นภาษาที่สวยงาม", 10, ["ภาษาไทย", "เป็นภาษา", "ที่สวยงาม"]),
        ("Burmese", "မြန်မာဘာသာစကား", 6, ["မြန်မာ", "ဘာသာစ", "ကား"]),
        ("Khmer", "ភាសាខ្មែរ", 4, ["ភាសា", "ខ្មែ", "រ"]),
        ("Hindi", "क्षत्रिय हिन्दी", 9, ["क्षत्रिय", "हिन्दी"]),
    ],
)
def test_a_long_sentence_is_cut_between_words(language: str, text: str, size: int, expected: list[str]) -> None:
    assert texts(text, max_size=size) == expected


def test_a_small_rest_goes_to_its_neighbour() -> None:
    text = "First sentence is here. Second sentence is here. End."
    assert texts(text, max_size=55, target_size=40, min_size=0) == [text[:48], "End."]
    assert texts(text, max_size=55, target_size=40, min_size=10) == [text]


def test_fallbacks_switched_off() -> None:
    text = "Supercalifragilistic is long. Ok."
    assert texts(text, max_size=10, fallback_to_words=False) == ["Supercalifragilistic is long.", "Ok."]
    assert texts(text, max_size=10, fallback_to_characters=False) == ["Supercalifragilistic", "is long.", "Ok."]
    assert [piece.cut for piece in chunk(text, "sentence", max_size=10, fallback_to_characters=False)] == [
        "oversize",
        "sentence",
        "document-end",
    ]


def test_own_marks_take_the_place_of_the_built_in_ones() -> None:
    options = {"max_size": 100, "target_size": 1, "min_size": 0}
    assert texts("One! Two? Three. Four", sentence_enders=["."], **options) == ["One! Two? Three.", "Four"]
    assert texts("Mr. X has 3.14. Yes.", sentence_enders=["."], **options) == ["Mr. X has 3.14.", "Yes."]
    assert texts("甲。乙；丙；丁", sentence_enders=["；"], **options) == ["甲。乙；", "丙；", "丁"]
    assert texts("a <br> b <br> c", sentence_enders=["<br>"], **options) == ["a <br>", "b <br>", "c"]


def test_overlap_is_of_whole_sentences_or_of_words_inside_of_one() -> None:
    text = "One is here. Two is here. " + "And then it goes on " + "and then it goes on " * 4
    found = chunk(text, "sentence", max_size=50, overlap=14, min_size=0, target_size=30)
    assert [(piece.text[:12], piece.overlap) for piece in found] == [
        ("One is here.", 0),
        ("And then it ", 0),
        ("on and then ", 11),
        ("it goes on a", 14),
    ]


def test_a_list_without_full_stops_is_cut_at_its_items() -> None:
    text = "\n".join(f"- item number {n}" for n in range(6))
    assert texts(text, max_size=40, fallback_to_words=False, min_size=0) == [
        "- item number 0\n- item number 1",
        "- item number 2\n- item number 3",
        "- item number 4\n- item number 5",
    ]


@pytest.mark.parametrize(
    "marks",
    ["(1) ", "a) ", "(b) ", "c. ", "ii. ", "iv) ", "一、", "（二）", "(三)", "①", "2、", "３．", "● ", "\u3000一、"],
)
def test_marks_of_list_items(marks: str) -> None:
    text = f"{marks}first thing\n{marks}second thing"
    made = build("sentence", max_size=80, min_size=0, target_size=1).split(text)
    assert [span.text(text) for span in made.spans] == [f"{marks}first thing".strip(), f"{marks}second thing".strip()]


def test_a_line_may_begin_with_an_abbreviation() -> None:
    text = "for the one\ni. e. the other\na.m. and so on"
    assert len(build("sentence", max_size=80, min_size=0, target_size=1).split(text).spans) == 1


def test_white_space_with_a_mark_on_it_leads_on_where_no_sentence_fits() -> None:
    found = build("sentence", max_size=2, strip_whitespace=False).split("! \u200cxx")
    assert [span.text("! \u200cxx") for span in found.spans] == ["!", " \u200c", "xx"]


def test_a_space_that_ends_sentences_is_not_torn_from_its_mark() -> None:
    assert texts("a  \u0301b c", max_size=40, sentence_enders=[" "], target_size=1) == ["a", " \u0301b", "c"]


def test_a_sentence_of_the_largest_size_may_end_with_a_mark_of_white_space() -> None:
    assert texts("abcde\nfg", max_size=5, sentence_enders=["\n"], fallback_to_words=False) == ["abcde", "fg"]


@pytest.mark.parametrize(
    ("marks", "text", "expected"),
    [
        (["a", "aa"], "b" + "a" * 5000 + "b", ["b" + "a" * 5000 + "b"]),
        (["...", "."], "x" + "." * 5000 + "x. y", ["x" + "." * 5000 + "x.", "y"]),
        (["\n", "."], "See\n.gitignore now. Yes", ["See", ".gitignore now.", "Yes"]),
        ([".", "。"], "他說：「好。」abc. 3.14", ["他說：「好。」", "abc.", "3.14"]),
    ],
    ids=["letters", "leaders", "hidden file", "closers"],
)
def test_marks_made_of_each_other_end_runs_once(marks: list[str], text: str, expected: list[str]) -> None:
    assert texts(text, max_size=6000, min_size=0, target_size=1, sentence_enders=marks) == expected


def test_a_sentence_that_fits_once_it_is_trimmed_is_not_over_the_limit() -> None:
    options = {"max_size": 80, "max_tokens": 1, "sentence_enders": [" "], "fallback_to_words": False}
    assert [(piece.text, piece.cut) for piece in chunk(" …… ", "sentence", **options)] == [("……", "document-end")]
