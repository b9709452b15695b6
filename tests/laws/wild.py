"""Documents made to break strategies, from a seed alone: bits of every format in any order, then damaged.

Hypothesis (`generators`) finds small counterexamples; this finds rare ones, since a document takes microseconds to make.
`document(kind, random)` gives one of a kind; the same seed gives the same document.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from tests.laws import generators
from tests.laws.markup import ATTRIBUTES, NAMES, QUIRKS, REFERENCES
from tests.laws.subjects import CORPUS

ODD = [
    *generators.ODD,
    *generators.RARE_SPACES,
    "\u202e",
    "\u2067",
    "\u0e33",
    "\u1a7f",
    "\u0301",
    "\U0001f3fb",
    "\u2060",
    "\u200e",
]
PROSE = [*generators.WORDS, *generators.WORDS, *generators.SPACES, *generators.SPACES, *generators.MARKS]
MARKDOWN = """
# |## |### |###### |#|#\t|## ``` |===|---|--- |***|```|````|~~~|``` py|> |> > |- |* |+ |1. |2) |  - |    - |\t|    |     # x
| a | b |\n|---|:-:|\n|| 1 | 2 |\n||:--|\n|\\||`|``|$|$$|\\[|\\]|<!--|-->|<div>|</div>|<details>|<summary>|</details>|<br>|<pre>
[a](b)|![|](|[^1]: |[x]: http://y 'z'\n|**|__|~~|:::|::: note|{#id}|- [ ] |---\na: b\n---\n|+++\n|<?|<![CDATA[|]]>|\\
import a from 'b'\n|export |{|}|{/*|*/}|<A b={|/>|<>|</>|<A\n|<script>|</script>|<p|&amp;|Term\n: def\n|* * *|_ _ _|  \n
"""
LATEX = r"""
\section{|\section*{|\part{x}|\chapter[a]{|\paragraph{x} |\subsection{a {b} c}|\begin{|\end{|\begin{document}|\end{document}
\begin{verbatim}|\end{verbatim}|\begin{itemize}|\end{itemize}|\item |\item[x] |\begin{equation}|\end{equation}|\[|\]|\(|\)|$|$$
%|% |\%|\\|\verb|\verb|a b|\lstinline{|{|}|[|]|\newcommand{\a}[1]{|\def\a#1{|\input{|\include |\title{|\author{|\caption{|\label{x}
\begin{comment}|\end{comment}|\begin{abstract}|\end{abstract}|\'e|\"{o}|\ss |~|---|&|\hline|\appendix|\iffalse|\fi|\newenvironment{a}{|\makeatletter|\begin{tabular}{c|c}|\end{tabular}|\documentclass{book}
"""
LEGAL = """
第一條|第二条　|第3條之1 |第十章 |第一编 |第二節　|제1조(목적) |제2장 |Article 1|Article II. |ARTICLE 3 - |Section 4. |§ 5 |§§ 6 |Sec. 7.
Artikel 8 |Art. 9 |1. |2. |(a) |(b) |(i) |(ii) |一、|二、|（一）|（二）|①|②|1　|２　|3.1 |3.1.1 |附則|附　則|（施行期日）|【目的】|CHAPTER I
PART TWO|Title III|第三项|第四款：|第五目|第一條第二項|ส่วนที่ 1 |มาตรา 1 |Статья 1. |Глава 2|المادة 1|Cláusula 3|# |## |**|> || a | b |\n|---|---|\n|shall |thereof.|甲方：|乙方：|---\n|Schedule A|第一条から第三条まで　削除|Section 3 of this Act |Annex I|Preamble|WHEREAS
"""
QUESTIONS = """
Q: |Q1. |Q2: |**Q:** |A: |A1. |**A:** |A. |Question: |Answer: |Question 3. |Answer 3. |問：|答：|问：|【問】|【答】|Q１　|A１　|質問：|回答：|질문: |답변: |Frage: |Antwort: |П: |Вопрос: |Ответ:
## |### |# |Why|How do I|?|？|؟|\n\n|\n|<details>|</details>|<summary>|</summary>|<dt>|</dt>|<dd>|- |1. |```|---\ntitle: t\n---\n|> || Q: | A: |\n|FAQ|<script type="application/ld+json">{"@type":"FAQPage","mainEntity":[{"@type":"Question","name":"|"}]}</script>|<div itemscope itemprop="mainEntity" itemtype="https://schema.org/Question">|</div>
"""
CODE = """
def |class |async def |return |@a\n|# |\"\"\"|'''|'|"|`|{|}|(|)|[|];|;\n|//|/*|*/|/** doc */|function |=> |const a = |export default |func |type T struct {|impl |fn |#[a]
namespace |template <|module |end|do |if x then|elif |else:|:|    |  |\t|\n|\n\n|\\|#include <a>|#if 0|#endif|#define A \\\n|package a|import (|use strict|<?php|?>|=begin\n|=end\n|<<EOF\n|EOF\n|--|--[[|]]|%|$a|&&|lambda |switch (|case 1:|public |private: |trait |interface |enum |let |var |val |begin|IDENTIFICATION DIVISION.|<a>|</a>|\\section{|# x|===\n
"""


def bits(table: str) -> list[str]:
    """The bits of a table, one between two bars; `\\n` and `\\t` are what they stand for."""
    return [
        bit.replace("\\n", "\n").replace("\\t", "\t") or "|"
        for line in table.strip("\n").split("\n")
        for bit in line.split("|")
    ]


def tags(random: Random) -> str:
    name, attributes = random.choice(NAMES), random.choice(ATTRIBUTES)
    end = random.choice([">", ">", ">", ">", "/>", "", "\n>", ">\n"])
    return random.choice(
        [f"<{name}{attributes}{end}", f"<{name}{attributes}{end}", f"</{name}{end}", f"<{name.upper()}>"]
    )


def value(random: Random, depth: int) -> object:
    kind = random.randrange(9 if depth else 6)
    if kind >= 7:
        return {word(random)[:30]: value(random, depth - 1) for _ in range(random.randrange(6))}
    if kind == 6:
        return [value(random, depth - 1) for _ in range(random.randrange(8))]
    return [word(random), prose(random, 30), random.randrange(10**6) - 500, random.random() * 10, None, True][kind]


def word(random: Random) -> str:
    return random.choice(PROSE) if random.random() < 0.9 else random.choice(ODD)


def prose(random: Random, most: int = 60) -> str:
    return "".join(word(random) + random.choice(("", " ")) for _ in range(random.randrange(most)))


def mixed(table: str, share: float = 0.5) -> Callable[[Random], str]:
    """A maker of documents whose bits are of `table`, or else prose."""
    own = bits(table)

    def make(random: Random) -> str:
        found = []
        for _ in range(random.randrange(80)):
            found.append(random.choice(own) if random.random() < share else word(random))
            found.append(random.choice(("", "", " ", "\n", "\n", "\n\n")))
        return "".join(found)

    return make


def html(random: Random) -> str:
    found = []
    for _ in range(random.randrange(60)):
        pick = random.random()
        found.append(
            tags(random)
            if pick < 0.6
            else random.choice(REFERENCES + QUIRKS)
            if pick < 0.65
            else word(random).replace("<", "")
        )
    return "".join(found)


def data(random: Random) -> str:
    text = json.dumps(
        value(random, random.randrange(6)),
        ensure_ascii=random.random() < 0.3,
        indent=random.choice((None, None, 1, "\t")),
        separators=random.choice((None, (",", ":"), (" , ", " : "))),
    )
    return random.choice(("", "", "\ufeff", " ", "\r\n")) + text + random.choice(("", "", "\n"))


MAKERS: dict[str, Callable[[Random], str]] = {
    "txt": prose,
    "md": mixed(MARKDOWN),
    "page": mixed(MARKDOWN),
    "mdx": mixed(MARKDOWN.replace("|<?|<![CDATA[", ""), 0.7),  # which are no MDX, so that no reading is right
    "tex": mixed(LATEX),
    "law": mixed(LEGAL),
    "questions": mixed(QUESTIONS),
    "code": mixed(CODE, 0.7),
    "source": mixed(CODE, 0.7),
    "html": html,
    "webpage": html,
    "json": data,
}
FOLDERS = {"page": "md", "mdx": "md", "law": "cjk", "webpage": "html", "questions": "md", "source": "code"}
"""Folders of the corpus whose files are near to a kind that is not called after one."""


def document(kind: str, random: Random) -> str:
    """A document of a kind: invented, or a piece of a real one, and damaged more often than not."""
    kind = {"cjk": "txt"}.get(kind, kind)
    files = real_files(FOLDERS.get(kind, kind))
    text = excerpt(random, files) if files and random.random() < 0.3 else MAKERS[kind](random)
    for _ in range(random.choice((0, 0, 1, 1, 2, 5))):
        text = damaged(random, text, kind)
    return text[: random.choice((300, 2000, 20_000))]


def damaged(random: Random, text: str, kind: str) -> str:
    """The text with something taken out, put in, doubled, moved or cut off."""
    one, other = sorted((random.randrange(len(text) + 1), random.randrange(len(text) + 1)))
    near = min(other, one + random.randrange(1, 12))
    match random.randrange(8):
        case 0:
            return text[:one] + text[near:]
        case 1:
            return text[:one] + random.choice(ODD) * random.choice((1, 1, 3, 90)) + text[one:]
        case 2:
            return text[:one] + text[one:near] * random.choice((2, 3, 40)) + text[near:]
        case 3:
            return text[other:] + text[one:other] + text[:one]
        case 4:
            return text[:other]
        case 5:
            return text.replace("\n", random.choice(("\r\n", "\r", "\n\n", " ", "\n\t")))
        case 6:
            return text[:one] + MAKERS[kind](random)[:200] + text[one:]
        case _:
            return "\n".join(random.choice(("", "> ", "    ", "- ", "\t")) + line for line in text.split("\n"))


@functools.lru_cache(maxsize=16)
def real_files(folder: str) -> Sequence[Path]:
    at = CORPUS / folder
    return sorted(at.iterdir()) if at.is_dir() else ()


def excerpt(random: Random, files: Sequence[Path]) -> str:
    """Some lines in a row of some file."""
    text = random.choice(files).read_bytes()[:60_000].decode("utf-8-sig", "replace")
    lines = text.splitlines(keepends=True)
    start = random.randrange(len(lines) + 1) if random.random() < 0.7 else 0
    return "".join(lines[start : start + random.choice((5, 40, 200))])
