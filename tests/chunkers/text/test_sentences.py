"""Where sentences end, in all scripts: the handed cases, and the rules behind them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chunkers.cutting.levels import Line, Sentence
from chunkers.text.sentences import CLAUSE_END, first_easy_start

CASES: list[dict[str, Any]] = [
    case
    for case in json.loads((Path(__file__).parents[2] / "cases" / "structure.json").read_text("utf-8"))
    if case["kind"] == "sentence"
]


def sentences(text: str) -> list[str]:
    """The text cut at line ends and sentence ends, without the white space around."""
    bound, found, at = [Line().bind(text), Sentence().bind(text)], [], 0
    while at < len(text):
        gaps = [gap for level in bound if (gap := level.first(at, len(text)))]
        end = min((gap.end for gap in gaps), default=len(text))
        found.append(text[at:end].strip())
        at = end
    return [sentence for sentence in found if sentence]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_handed_case(case: dict[str, Any]) -> None:
    assert sentences(case["input"]) == case["right"]["sentences"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("他走了。她也走了。", ["他走了。", "她也走了。"]),
        ("「好。」「不好。」", ["「好。」", "「不好。」"]),
        ("她說「好。我來。」就走了。", ["她說「好。我來。」就走了。"]),
        ("真的？！走吧。", ["真的？！", "走吧。"]),
        ("価格は１．５倍。", ["価格は１．５倍。"]),
        ("Es war am 3. Mai. Dann kam Juni.", ["Es war am 3. Mai.", "Dann kam Juni."]),
        ("It was room 12. Then we left.", ["It was room 12.", "Then we left."]),
        ("श्री. गुप्ता आए। ठीक।", ["श्री. गुप्ता आए।", "ठीक।"]),
        ("Mr. Ed ran. Dr. No hid.", ["Mr. Ed ran.", "Dr. No hid."]),
        ("See fig. 3 of vol. 2 now. Done.", ["See fig. 3 of vol. 2 now.", "Done."]),
        ('He said "Go." Then he left.', ['He said "Go."', "Then he left."]),
        ("What?! No...", ["What?!", "No..."]),
        ("pi is 3.14. e is 2.71.", ["pi is 3.14. e is 2.71."]),
        ("A list:\nno stop\nnor here", ["A list:", "no stop", "nor here"]),
        ("We shut at 7 p.m. Mrs. Ito locked up.", ["We shut at 7 p.m.", "Mrs. Ito locked up."]),
        ("We left. Around 7 p.m. Mrs. Ito came.", ["We left.", "Around 7 p.m. Mrs. Ito came."]),
        ("Carthage fell in 146 B.C. Rome went on.", ["Carthage fell in 146 B.C.", "Rome went on."]),
        ("He lives in B.C. Canada is cold.", ["He lives in B.C. Canada is cold."]),
        ("He finished his Ph.D. Ann did not.", ["He finished his Ph.D.", "Ann did not."]),
        ("A novel by J.D. Salinger and B.S. Johnson.", ["A novel by J.D. Salinger and B.S. Johnson."]),
        ("Ask Kim Ph.D. Park about it.", ["Ask Kim Ph.D. Park about it."]),
        ("Iron is a metal. [2][3] [14] It rusts.", ["Iron is a metal. [2][3] [14]", "It rusts."]),
        ("Iron is. [See] It rusts. [4]x", ["Iron is.", "[See] It rusts.", "[4]x"]),
        ("Run ` ls. ` now. He typed `ls.` Then it ran.", ["Run ` ls.", "` now.", "He typed `ls.`", "Then it ran."]),
        ("See `a/...` Now [`--no...`] Then `'.'` Go.", ["See `a/...` Now [`--no...`] Then `'.'` Go."]),
        ("Stop ! ! ! he cried . Who ? ! We .", ["Stop ! ! ! he cried .", "Who ? !", "We ."]),
        ("« Quoi ? » dit-il. Pourquoi ? demanda Luc.", ["« Quoi ? » dit-il.", "Pourquoi ? demanda Luc."]),
        ("The band Wham ! '' , he said . Mr . Hill left .", ["The band Wham ! '' , he said .", "Mr . Hill left ."]),
        ("Oh! ... No. Oh! ... no. Oh!... no.", ["Oh! ...", "No.", "Oh! ... no.", "Oh!... no."]),
        ("Well . . .  Yes. Well . . . I go.", ["Well . . .", "Yes.", "Well . . . I go."]),
        ("See vol. III of it. The art. IX says so.", ["See vol. III of it.", "The art. IX says so."]),
        ("He said no. I left.", ["He said no.", "I left."]),
        ("ശ്രീ എ. ബി. വർമ്മ വന്നു. അവർ പോയി.", ["ശ്രീ എ. ബി. വർമ്മ വന്നു.", "അവർ പോയി."]),
        ("• 3. One thing • 4. Another • x", ["• 3. One thing", "• 4. Another", "• x"]),
        ("ខ្ញុំទៅផ្សារ។គាត់នៅផ្ទះ៕", ["ខ្ញុំទៅផ្សារ។", "គាត់នៅផ្ទះ៕"]),
        ("ငါသွား၊နေ။သူနေ။", ["ငါသွား၊နေ။", "သူနေ။"]),
        ("ᱥᱮᱱᱚᱜ ᱟ᱾ ᱩᱱᱤ ᱢᱮᱱᱟᱭᱟ᱿", ["ᱥᱮᱱᱚᱜ ᱟ᱾", "ᱩᱱᱤ ᱢᱮᱱᱟᱭᱟ᱿"]),
        ("ꯑꯩ ꯆꯠꯂꯦ꯫ꯃꯥ ꯂꯩ꯫", ["ꯑꯩ ꯆꯠꯂꯦ꯫", "ꯃꯥ ꯂꯩ꯫"]),
        ("ᠪᠢ ᠶᠠᠪᠤᠨ᠎ᠠ᠃ ᠲᠡᠷᠡ ᠪᠠᠶᠢᠨ᠎ᠠ᠃", ["ᠪᠢ ᠶᠠᠪᠤᠨ᠎ᠠ᠃", "ᠲᠡᠷᠡ ᠪᠠᠶᠢᠨ᠎ᠠ᠃"]),
        ("ܐܢܐ ܐܙܠ܂ ܗܘ ܐܬܐ܀", ["ܐܢܐ ܐܙܠ܂", "ܗܘ ܐܬܐ܀"]),
        ("Yahoo! is a company. She left.", ["Yahoo! is a company.", "She left."]),
        ("He asked why? nobody knew. Yes.", ["He asked why? nobody knew.", "Yes."]),
        ("how are you? i am fine! bye", ["how are you?", "i am fine!", "bye"]),
        (
            "In 44 B.C. Caesar died. Around 300 A.D. Rome fell.",
            ["In 44 B.C. Caesar died.", "Around 300 A.D. Rome fell."],
        ),
        ("On Jan. 5, at 6 a.m. Mr. Ito came.", ["On Jan. 5, at 6 a.m. Mr. Ito came."]),
        ("In the morning at 6 a.m. Mr. Ito came.", ["In the morning at 6 a.m. Mr. Ito came."]),
        ("Նա ասաց. Ես գալիս եմ։ Նա գնաց։", ["Նա ասաց. Ես գալիս եմ։", "Նա գնաց։"]),
        ("ii. First\niii. Second", ["ii. First", "iii. Second"]),
        ("You did what‽ Yes﹒ No", ["You did what‽", "Yes﹒", "No"]),
        ("no end", ["no end"]),
        ("...", ["..."]),
        ("።", ["።"]),
    ],
)
def test_sentences_of(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("a, b; c: d", [2, 5, 8]),
        ("a,b;c:d", []),
        ("好，但是；不", [2, 5]),
        ("1,000 and 10:30", []),
        ("x — y … z", [3, 7]),
        ("「甲」，「乙」、丙", [4, 8]),
        ("ငါသွား၊နေ။", [7]),
        ("ቤት፣ሰው፤አለ።", [3, 6]),
        ("ᠨᠢᠭᠡ᠂ ᠬᠣᠶᠠᠷ", [5]),
    ],
)
def test_clause_ends(text: str, ends: list[int]) -> None:
    assert [found.end() for found in CLAUSE_END.finditer(text)] == ends


@pytest.mark.parametrize(
    ("text", "low", "start"),
    [
        ("They left. We stay.", 1, 11),
        ("They left. We stay.", 12, -1),
        ("They left. we stay.", 1, -1),
        ("See Dr. No.", 1, -1),
        ("They left.\n\n  We stay.", 1, 14),
        ("他走了。她也走了。", 1, 4),
        ("「他走了。她也走了。」", 1, -1),
    ],
)
def test_easy_starts(text: str, low: int, start: int) -> None:
    assert first_easy_start(text, low, len(text)) == start
