"""Reading LaTeX: the handed cases, and what broken or unusual sources must not do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chunkers.structure.latex import read_latex
from chunkers.structure.latex_text import plain_text

CASES: list[dict[str, Any]] = [
    case
    for case in json.loads((Path(__file__).parents[2] / "cases" / "structure.json").read_text("utf-8"))
    if case["kind"] == "latex"
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_handed_case(case: dict[str, Any]) -> None:
    found = read_latex(case["input"])
    told = {
        "sections": [[section.start, section.name, section.title] for section in found.sections],
        "environments": [list(each[:3]) for each in found.environments if each.name != "document"],
        "math": [list(span) for span in found.math],
        "includes": found.includes,
    }
    assert {name: told[name] for name in case["right"]} == case["right"]


def titles(text: str) -> list[str]:
    return [section.title for section in read_latex(text).sections]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\\begin{verbatim}\n\\section{no}\n\\end{verbatim}\\section{a}", ["a"]),
        ("\\begin{lstlisting}[language=C]\n\\section{no}\n\\end{lstlisting}\n\\section{a}", ["a"]),
        ("\\begin{verbatim}\n\\section{a}", ["a"]),
        ("\\begin{comment}\n\\section{no}\n\\end{comment}", []),
        ("\\lstinline{\\section} \\section{a}", ["a"]),
        ("\\def\\x#1{\\section{#1}}\n\\section{a}", ["a"]),
        ("\\newenvironment{x}[1]{\\section{#1}}{}\n\\section{a}", ["a"]),
        ("\\newcommand\\x{\\section{no}}\n\\section{a}", ["a"]),
        ("\\newcommand{\\x}{ \\section{a}", ["a"]),
        ("\\sectionmark{no} \\section{a}", ["a"]),
        ("\\section{a % b\n c}", ["a c"]),
        ("\\section{a} $x \\section{b}", ["a", "b"]),
        ("\\[ \\section{a}\n\\section{b} \\]", ["a", "b"]),
        ("\\section{open", []),
        ("\\section", []),
        ("\\section\n{a}", ["a"]),
        ("\\begin{document}\\section{a}\\end{document}\\section{no}", ["a"]),
        ("\\end{document}\\section{a}", ["a"]),
        ("\\verb|\\end{document}| \\section{a}", ["a"]),
    ],
)
def test_sections(text: str, expected: list[str]) -> None:
    assert titles(text) == expected


def test_a_section_holds_its_labels() -> None:
    text = "\\section{A}\\label{sec:a}\nbody"
    section = read_latex(text).sections[0]
    assert text[section.start : section.end] == "\\section{A}\\label{sec:a}\n"


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("a $5 and\n\nmore $ b", []),
        ("$a$$b$", ["$a$", "$b$"]),
        ("\\(a\\) \\[b\\\\[2pt] c\\]", ["\\(a\\)", "\\[b\\\\[2pt] c\\]"]),
        ("\\begin{align*}\na &= b\n\\end{align*}", ["\\begin{align*}\na &= b\n\\end{align*}"]),
        ("\\\\[2pt] x \\]", []),
        ("$$a$$ $$", ["$$a$$"]),
    ],
)
def test_math(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in read_latex(text).math] == spans


def test_environments_know_how_deep_they_lie() -> None:
    text = "\\begin{document}\\begin{a}\\begin{b}\\end{b}\\end{a}\\begin{open}\\begin{c}\\end{c}\\end{document}"
    assert [(each.name, each.depth) for each in read_latex(text).environments] == [
        ("document", 0),
        ("a", 0),
        ("b", 1),
        ("c", 1),
    ]


def test_line_ends_do_not_change_what_is_found() -> None:
    text = "\\section{A}\n\nb % c\n\\begin{x}\n\\item d\n\\end{x}\n"
    plain, dos = read_latex(text), read_latex(text.replace("\n", "\r\n"))
    assert [section.title for section in dos.sections] == [section.title for section in plain.sections]
    assert len(dos.breaks) == len(plain.breaks) == 1
    assert len(dos.items) == len(plain.items) == 1


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Long \\emph{t}", "Long t"),
        ("Universit\\`a \\& more", "Università & more"),
        ('\\"{u}ber \\ss{} 50\\%', "über ß 50%"),
        ("\\texorpdfstring{$\\alpha$}{alpha}", "alpha"),
        ("A~B --- ``C''", "A B — “C”"),
        ("a\\label{x}\\footnote{y} b", "a b"),
        ("\\LaTeX\\ basics", "LaTeX basics"),
        ("\\textbf{\\'Etude} n", "Étude n"),
        ("漢字 \\emph{強調}", "漢字 強調"),
    ],
)
def test_plain_text(source: str, expected: str) -> None:
    assert plain_text(source) == expected


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("\\iffalse\n\\section{no}\n\\fi\n\\section{y}", ["y"]),
        ("\\iffalse \\ifx a\\else b\\fi \\section{no}\\else\\section{y}\\fi\\section{z}", ["y", "z"]),
        ("\\iffalse % \\fi\n\\section{no}\\fi\\section{y}", ["y"]),
        ("\\iffalse\\ifthenelse{a}{b}{c} $a \\iff b$ \\section{no}\\fi\\section{y}", ["y"]),
        ("\\iffalse\\section{never closed}", ["never closed"]),
    ],
)
def test_what_iffalse_hides_has_no_sections(text: str, titles: list[str]) -> None:
    assert [section.title for section in read_latex(text).sections] == titles
