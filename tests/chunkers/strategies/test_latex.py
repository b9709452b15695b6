"""`latex`: what it cuts at, what it keeps whole, and what chunks are told."""

from __future__ import annotations

import pytest

from chunkers import build, chunk
from chunkers.cutting.packing import Packer
from chunkers.strategies import latex
from chunkers.structure.latex import read_latex
from chunkers.text.lines import skip_space
from tests.laws.subjects import CORPUS, documents

PAPER = """\\documentclass{article}
\\title{On \\emph{tides}}
\\begin{document}
\\section{Intro}
We begin. It is short.

\\subsection{Scope}
\\label{sec:scope}
The sum $a + b + c$ is what matters here, as \\eqref{eq:one} says.
\\begin{equation}
  a = b

  + c
\\end{equation}
Done.
\\input{tables/one}
\\end{document}
left over
"""


def test_headings_stay_with_the_text_of_the_last_one() -> None:
    text = "\\section{A}\nword word\n\n\\subsection{B}\n\n\\subsubsection{C}\nword word word word"
    made = build("latex", max_size=45, overlap=0).split(text)
    assert [span.text(text) for span in made.spans] == [
        "\\section{A}\nword word",
        "\\subsection{B}\n\n\\subsubsection{C}\nword word",
        "word word",
    ]


def test_a_mark_on_the_last_brace_belongs_to_the_document() -> None:
    text = "\\begin{document}a\\end{document}\u0301\nrest"
    made = build("latex").split(text)
    assert [span.text(text) for span in made.spans] == ["\\begin{document}a\\end{document}\u0301"]
    assert [tuple(drop) for drop in made.drops] == [(32, 37, "after-document")]


def test_headings_are_a_path_and_files_are_recorded() -> None:
    made = build("latex", max_size=120, overlap=0).split(PAPER)
    assert [(span.headings, span.text(PAPER)[:16], span.cut) for span in made.spans] == [
        ((), "\\documentclass{a", "heading"),
        (("Intro",), "\\section{Intro}\n", "heading"),
        (("Intro", "Scope"), "\\subsection{Scop", "block"),
        (("Intro", "Scope"), "\\begin{equation}", "document-end"),
    ]
    assert made.title == "On tides"
    assert made.metadata == {"includes": '["tables/one"]'}
    assert [(PAPER[drop.start : drop.end].strip(), drop.kind) for drop in made.drops] == [
        ("left over", "after-document")
    ]


def test_a_formula_that_fits_is_never_cut() -> None:
    text = "word " * 6 + "$a + b + c + d + e + f$ and more words to come here"
    for size in range(24, 60):
        assert any("$a + b + c + d + e + f$" in piece.text for piece in chunk(text, "latex", max_size=size, overlap=0))


def test_an_environment_that_fits_starts_a_chunk_rather_than_being_cut() -> None:
    inner = "\\begin{theorem}\none two three\n\nfour five six\n\\end{theorem}"
    text = "Some words before it. " * 3 + "\n" + inner + "\nand words behind it."
    found = [piece.text for piece in chunk(text, "latex", max_size=90, overlap=0)]
    assert [piece for piece in found if inner in piece] == [inner + "\nand words behind it."]


def test_items_stay_whole() -> None:
    text = "\\begin{itemize}\n" + "".join(f"  \\item number {n} of the list\n" for n in range(9)) + "\\end{itemize}\n"
    found = chunk(text, "latex", max_size=70, overlap=0)
    assert [piece.text.count("\\item") for piece in found] == [1, 2, 2, 2, 1, 1]
    assert {piece.cut for piece in found[:-1]} == {"item"}


def test_overlap_stays_in_its_section() -> None:
    text = "\\section{A}\n" + "One more sentence here. " * 6 + "\n\\section{B}\n" + "And another one there. " * 6
    found = chunk(text, "latex", max_size=100, overlap=40)
    assert [(piece.headings, piece.overlap > 0) for piece in found] == [
        (("A",), False),
        (("A",), True),
        (("B",), False),
        (("B",), True),
    ]


def test_auto_takes_it_for_tex() -> None:
    assert build("auto").split("\\section{A} b", path="a.tex").strategy == "latex"
    assert build("auto").split("\\section{A} b", media_type="application/x-tex").strategy == "latex"


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus; RECHUNK_CORPUS names its folder")
@pytest.mark.parametrize("size", [200, 1000])
def test_no_heading_of_the_corpus_is_left_by_its_body(size: int) -> None:
    strategy, wrong = build("latex", max_size=size, overlap=0), []
    for name, text in documents("tex", step=3):
        document = read_latex(text)
        ends = {span.end for span in strategy.split(text).spans}
        starts = {section.start for section in document.sections}
        for section in document.sections:
            end = section.start + len(text[section.start : section.end].rstrip())
            body = skip_space(text, section.end, document.end)
            word = len(text[body : body + size].split(maxsplit=1)[0]) if body < document.end else 0
            has_body = word and body not in starts
            if has_body and end in ends and body + word - section.start <= size:
                wrong.append((name, section.title))
    assert wrong == []


@pytest.mark.parametrize("options", [{"overlap": 0}, {"overlap": 20}, {"max_size": 60, "overlap": 15}])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_chunks_along_the_marks_are_those_of_the_packer(
    options: dict[str, int], line_end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = r"""\section{One}
Text of it, and more. Two sentences of it.

  \begin{itemize}
  \item Erste Sache
  \item $a +
b$ Zweite Sache é
  \end{itemize}
\subsection{Two} \label{two}

中文。 \begin{equation}
x
\end{equation}
"""
    strategy = build("latex", **{"max_size": 120, **options})
    text = (text * 6).replace("\n", line_end)
    made = strategy.split(text)

    def general(packer: Packer, levels: object, floors: object, *, by_lines: bool) -> object:
        return packer.run(0)[0]

    monkeypatch.setattr(latex, "pack_along", general)
    assert strategy.split(text) == made
