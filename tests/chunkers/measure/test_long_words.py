"""Words that are encoded in parts have the tokens they have as a whole."""

from __future__ import annotations

import random

import numpy as np
import pytest

from chunkers.measure.long_words import PART, Ids, encode_in_parts
from chunkers.measure.tokens import ENCODINGS, encoding

LETTERS = "员工在同一公司服务满六个月東京は日本の首都でありデータ대한민국서울"
CHANCE = random.Random(7)
MIXED = "".join(CHANCE.choice(LETTERS) for _ in range(40_000))
WORDS = {
    "mixed": MIXED,
    "behind a stop, before Latin": f"x。{MIXED}ABCd é",
    "behind Latin": f"abc{MIXED}",
    "behind a mark": f"e\u0301{MIXED}",
    "repeated": "员工在同一公司服务满六个月" * 3_000,
    "one letter": "あ" * 40_000,
    "lines of them": f"{MIXED}\n{MIXED[::-1]}、{MIXED[:100]}",
}


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("text", WORDS.values(), ids=WORDS)
def test_parts_have_the_tokens_of_the_whole(name: str, text: str) -> None:
    core = encoding(name).bpe._core_bpe

    def encode(part: str) -> Ids:
        return np.array(core.encode_ordinary(part), dtype=np.uint32)

    found = encode_in_parts(text, encode, core.decode_single_token_bytes)
    assert found.tolist() == core.encode_ordinary(text)


def test_no_part_is_long_where_the_text_allows_it() -> None:
    core = encoding("cl100k_base").bpe._core_bpe
    sizes = []

    def encode(part: str) -> Ids:
        sizes.append(len(part))
        return np.array(core.encode_ordinary(part), dtype=np.uint32)

    encode_in_parts(MIXED, encode, core.decode_single_token_bytes)
    assert (len(sizes), max(sizes)) == (5, PART + 64)
