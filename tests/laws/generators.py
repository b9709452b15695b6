"""Documents for the laws: hypothesis strategies over many scripts."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from tests.laws.markup import htmls, jsons
from tests.laws.mdx import closing

TONGUES = """
the quick brown fox jumps over a lazy dog Dr. e.g. 3.14 U.S. naïve Straße x = y+1; don't well-known
今天天气很好 我们去公园散步 員工 第三條 测试 東京は、日本の首都です データ ひらがな ｶﾅ コーヒー 々
대한민국 서울 한국어 각 ภาษาไทย กำลัง น้ำ ที่ क्षत्रिय हिन्दी नमस्ते स्त्री
السلام عليكم مرحبا ١٢٣ שלום Привет мир Ελληνικά ქართული
👍🏽 🇹🇼🇯🇵 🇹🇼🇯🇵🇰 1️⃣ ❤️ 😀
"""
WORDS = [
    *TONGUES.split(),
    "👩\u200d👩\u200d👧\u200d👦",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "e\u0301a\u0308",
    "Z\u0351\u036b\u0343",
    "\u0301" * 3,
    "x" + "\u0302" * 70,
    "<|endoftext|>",
]
SPACES = [
    " ",
    " ",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\n\n\n",
    "\r\n",
    "\r\n\r\n",
    "\r",
    "\t",
    "\u3000",
    "\xa0",
    "\n    ",
    " \n \n ",
]
RARE_SPACES = ["\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\u200b", "\x1c", "\n\r", "\r\r\n", "\u180e", " \u0301"]
MARKS = [
    ". ",
    "! ",
    "? ",
    "。",
    "！？",
    "。」",
    "；",
    "…",
    "，",
    "、",
    ", ",
    "; ",
    ": ",
    "।",
    "؟ ",
    ".",
    "…… ",
    ")",
    "(",
    "「",
    "」",
]
ODD = [
    "\x00",
    "\ud800",
    "\udfff",
    "\ud83d\ude00",
    "\ufeff",
    "\ufffd",
    "\u200d",
    "\u200c",
    "\ufe0f",
    "\u0600",
    "\U000e0001",
    "龘靐齉爩",
]

pieces = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(WORDS),
    st.sampled_from(SPACES),
    st.sampled_from(SPACES),
    st.sampled_from(MARKS),
    st.sampled_from(RARE_SPACES + ODD),
    st.integers(1, 200).map(lambda n: "a" * n),
    st.integers(1, 80).map(lambda n: "漢" * n),
    st.text(st.characters(exclude_categories=()), max_size=6),
)
"""Short pieces of text of every kind, lone surrogates included."""


def texts(max_pieces: int = 60) -> st.SearchStrategy[str]:
    """Text documents: pieces in a row, some of them repeated so that chunks look alike."""
    run = st.lists(pieces, max_size=max_pieces).map("".join)
    again = st.tuples(st.lists(pieces, min_size=1, max_size=8).map("".join), st.integers(1, 25)).map(
        lambda pair: pair[0] * pair[1]
    )
    return st.one_of(run, run, again, st.tuples(run, again, run).map("".join))


def lines(piece: st.SearchStrategy[str], most: int) -> st.SearchStrategy[str]:
    return st.lists(piece, min_size=1, max_size=most).map(
        lambda found: " ".join(found).replace("\n", " ").replace("\r", " ")
    )


sentence = lines(st.sampled_from(WORDS + MARKS), 12)
title = lines(st.sampled_from(WORDS), 4)
code_line = st.sampled_from(
    [
        "def a(x):",
        "    return x",
        "# not a heading",
        "x = 1",
        "",
        "}",
        "\tfoo();",
        "if (a) {",
        "class A:",
        "    '''doc'''",
        "    # 注释：你好",
    ]
)
code_lines = st.lists(code_line, max_size=12).map("\n".join)
fence = st.sampled_from(["```", "````", "~~~", "~~~~~"])
blocks = st.one_of(
    st.tuples(st.integers(1, 6), title).map(lambda pair: "#" * pair[0] + " " + pair[1]),
    st.tuples(st.integers(1, 6), title).map(lambda pair: "#" * pair[0] + " " + pair[1] + " " + "#" * pair[0]),
    st.tuples(title, st.sampled_from(["===", "---"])).map(lambda pair: pair[0] + "\n" + pair[1]),
    st.lists(sentence, min_size=1, max_size=5).map("\n".join),
    st.lists(sentence, min_size=1, max_size=5).map(" ".join),
    st.tuples(fence, st.sampled_from(["", "py", "md"]), code_lines).map(lambda f: f"{f[0]}{f[1]}\n{f[2]}\n{f[0]}"),
    st.tuples(fence, code_lines).map(lambda f: f"{f[0]}\n{f[1]}"),
    code_lines.map(lambda text: "\n".join("    " + line for line in text.split("\n"))),
    st.lists(sentence, min_size=1, max_size=5).map(lambda items: "\n".join("- " + item for item in items)),
    st.lists(sentence, min_size=1, max_size=4).map(
        lambda items: "\n".join(f"{n}. {item}\n\n   # in a list" for n, item in enumerate(items, 1))
    ),
    st.lists(sentence, min_size=1, max_size=4).map(
        lambda items: "> # quoted\n" + "\n".join("> " + item for item in items)
    ),
    st.lists(title, min_size=1, max_size=8).map(
        lambda rows: "| a | b |\n|---|---|\n" + "\n".join(f"| {row} | 1 |" for row in rows)
    ),
    st.just("<!-- comment\n# not a heading\n-->"),
    st.just("<div>\n# not a heading\n</div>"),
    st.just("$$\n# x\n$$"),
    st.just("***"),
    st.just("[link]: http://example.com"),
    st.just("#no space"),
    st.just("#"),
)
attribute = st.sampled_from(
    ["a", "b='c'", 'd="\n# no\n"', "e={1}", "f={{g: `\n# no\n`}}", "{...h}", "i={/* > */ j}", "\n"]
)
tag = st.tuples(st.lists(attribute, max_size=3).map(" ".join), st.sampled_from(["", " /"])).map(
    lambda pair: f"<A {pair[0]}{pair[1]}>"
)
javascript = st.sampled_from(
    ["x", "{", "}", "'}'", '"{"', "`\n\n}`", "// }\n", "/* {\n# no\n*/", "\n# no\n", "\n\n# no\n\n", " = 1"]
)
expression = st.lists(javascript, max_size=5).map(lambda parts: balanced("".join(parts)))
mdx_blocks = st.one_of(
    blocks,
    tag,
    st.tuples(tag, st.one_of(blocks, tag), st.sampled_from(["\n", "\n\n"])).map(
        lambda found: f"{found[0]}{found[2]}{found[1]}{found[2]}</A>"
    ),
    st.lists(st.one_of(tag, tag, expression), min_size=1, max_size=3).map(lambda pieces: " ".join(["<A>", *pieces])),
    st.lists(tag, min_size=2, max_size=3).map("".join),
    expression,
    st.tuples(expression, sentence).map(" ".join),
    st.sampled_from(
        ["import A from 'a'\nimport B from 'b'", "import {\n\n  C\n\n} from 'c'", "export default D", "importer"]
    ),
    expression.map(lambda code: f"export const e = {code}"),
    st.tuples(st.sampled_from(["    ", "\t", "      "]), title).map(lambda pair: f"{pair[0]}# {pair[1]}"),
)
front_matter = st.sampled_from(
    [
        "",
        "",
        "---\ntitle: T\ntags: [a, b]\n---\n",
        "+++\ntitle = 'T'\n+++\n",
        "---\n\nnot: front matter\n---\n",
        "---\nopen: true\n",
    ]
)
line_ends = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])
gaps = st.sampled_from(["\n\n", "\n\n", "\n\n", "\n", "\n\n\n\n"])


@st.composite
def markdowns(draw: st.DrawFn, max_blocks: int = 14) -> str:
    """Markdown documents of whole blocks, with any line end."""
    found = draw(st.lists(st.tuples(blocks, gaps), max_size=max_blocks))
    text = draw(front_matter) + "".join(block + gap for block, gap in found)
    return text.replace("\n", draw(line_ends))


@st.composite
def mdxs(draw: st.DrawFn, max_blocks: int = 14) -> str:
    """MDX documents of whole blocks, with any line end."""
    found = draw(st.lists(st.tuples(mdx_blocks, gaps), max_size=max_blocks))
    text = draw(front_matter) + "".join(block + gap for block, gap in found)
    return text.replace("\n", draw(line_ends))


def balanced(code: str) -> str:
    """An expression of any pieces of JavaScript: braces outside strings and comments are left out where none match."""
    return (
        "{" + (code if closing("{" + code + "}", 0) == len(code) + 2 else code.replace("{", "").replace("}", "")) + "}"
    )


def codes(max_lines: int = 60) -> st.SearchStrategy[str]:
    """Lines that look like source code."""
    return st.lists(st.one_of(code_line, code_line, sentence), max_size=max_lines).map("\n".join)


article_number = st.sampled_from(["一", "二", "三", "十二", "八十四", "3", "４"])
law_lines = st.one_of(
    article_number.map(lambda n: f"第{n}條"),
    st.tuples(article_number, sentence).map(lambda pair: f"第{pair[0]}条　{pair[1]}"),
    st.tuples(article_number, title).map(lambda pair: f"**第{pair[0]}条之二**（{pair[1]}）"),
    st.tuples(article_number, sentence).map(lambda pair: f"第{pair[0]}條第二項{pair[1]}"),
    st.tuples(article_number, st.sampled_from("編章節款目"), title).map(
        lambda found: f"第{found[0]}{found[1]}　{found[2]}"
    ),
    st.tuples(st.integers(1, 6), article_number, title).map(
        lambda found: f"{'#' * found[0]} 第{found[1]}章 {found[2]}"
    ),
    st.tuples(st.integers(1, 9), title).map(lambda pair: f"Article {pair[0]} {pair[1]}"),
    st.tuples(st.integers(1, 9), sentence).map(lambda pair: f"Section {pair[0]}. {pair[1]}"),
    st.tuples(st.integers(1, 9), title).map(lambda pair: f"### § {pair[0]} {pair[1]}"),
    st.tuples(st.sampled_from(["（一）", "一、", "２　", "　イ　", "(a) ", "(i) ", "1. ", "①"]), sentence).map("".join),
    st.sampled_from(["附　則", "（見出し）", "第三十八条から第八十四条まで　削除", "CHAPTER II", "", "　"]),
    title.map(lambda text: f"（{text}）"),
    sentence,
    pieces,
)


@st.composite
def laws(draw: st.DrawFn, max_lines: int = 40) -> str:
    """Lines that announce articles, divisions, paragraphs and items in any order, with any line end."""
    return draw(line_ends).join(draw(st.lists(law_lines, max_size=max_lines)))


tex_pieces = st.one_of(
    st.tuples(st.sampled_from(["part", "section", "subsection*", "paragraph"]), title).map(
        lambda pair: f"\\{pair[0]}{{{pair[1]}}}"
    ),
    st.tuples(st.sampled_from(["section[a]{b", "section", "chapter{\\emph{x", "section{}\\label{a}"])).map(
        lambda one: "\\" + one[0]
    ),
    st.lists(sentence, min_size=1, max_size=4).map("\n".join),
    st.sampled_from(["equation", "align*", "itemize", "theorem", "verbatim", "lstlisting", "document", "comment"]).flatmap(
        lambda name: st.sampled_from([f"\\begin{{{name}}}", f"\\end{{{name}}}"])
    ),
    st.tuples(st.sampled_from(["theorem", "align", "verbatim", "tabular"]), sentence).map(
        lambda pair: f"\\begin{{{pair[0]}}}\n{pair[1]}\n\n{pair[1]}\n\\end{{{pair[0]}}}"
    ),
    st.lists(sentence, min_size=1, max_size=4).map(
        lambda items: "\\begin{itemize}\n" + "".join(f"  \\item {item}\n" for item in items) + "\\end{itemize}"
    ),
    st.tuples(sentence, sentence).map(lambda pair: f"{pair[0]} $x = y$ {pair[1]} \\(a\n+ b\\)"),
    st.sampled_from(
        [
            "$", "$$", "$$a\n\nb$$", "\\[", "\\]", "\\[x\\]", "\\verb|a b|", "\\verb", "%", "% \\section{no}", "\\\\", "\\%", "{",
            "}", "\\newcommand{\\a}[1]{\\section{#1}}", "\\newcommand{\\a}{", "\\def\\b#1{\\section{#1}}", "\\input{a/b}",
            "\\include c", "\\title{T}", "\\item", "\\begin{", "\\begin{}", "\\", "\\lstinline{x y}",
        ]
    ),
)  # fmt: skip


@st.composite
def texs(draw: st.DrawFn, max_pieces: int = 16) -> str:
    """LaTeX documents, many of them broken, with any line end."""
    found = draw(st.lists(st.tuples(tex_pieces, st.sampled_from(["\n", "\n", "\n\n", " ", ""])), max_size=max_pieces))
    body = "".join(piece + gap for piece, gap in found)
    opened = draw(st.sampled_from(["", "", "\\documentclass{article}\n\\begin{document}\n"]))
    closed = draw(st.sampled_from(["", "\n\\end{document}\nafter it"]))
    return (opened + body + closed).replace("\n", draw(line_ends))


question_lines = st.one_of(
    st.tuples(
        st.sampled_from(["Q: ", "**Q1. ", "問：", "Q1　", "Question 2: ", "- Q：", "【問】", "Q. ", "## Q3: "]),
        title,
        st.sampled_from(["?", "？", "", "**", "?**"]),
    ).map("".join),
    st.tuples(st.sampled_from(["A: ", "A1. ", "答：", "A1　", "Answer 2: ", "A. ", "**A:** ", "【答】"]), sentence).map(
        "".join
    ),
    st.tuples(st.integers(1, 6), title, st.sampled_from(["?", "？", ""])).map(lambda f: "#" * f[0] + f" {f[1]}{f[2]}"),
    st.sampled_from(["<details>", "</details>", "<summary>a?</summary>", "<details><summary>b", "</summary>c", "", ""]),
    sentence,
    blocks,
    pieces,
)


@st.composite
def questions(draw: st.DrawFn, max_lines: int = 30) -> str:
    """Lines that ask, answer and open sections in any order, with any line end."""
    return draw(line_ends).join(draw(st.lists(question_lines, max_size=max_lines)))


source_line = st.sampled_from(
    [
        *(
            "def f(x):",
            "    return x",
            "class A(B):",
            "    async def g(self):",
            "        'doc 文件'",
            "@cached",
            "# 註解",
        ),
        *(
            "function f() {",
            "}",
            "export default class C {",
            "  get x() { return `é` }",
            "const h = (a) => a;",
            "/** doc */",
        ),
        *(
            "func (r *T) M() {",
            "type S struct {",
            "impl<T> Tr for S {",
            "#[derive(Debug)]",
            "fn m() {}",
            "namespace n {",
        ),
        *(
            "template <class T> void f(T a) { a(); }",
            "module M",
            "  def self.x; end",
            "end",
            "if x then",
            "echo $y",
            "",
        ),
    ]
)


def sources(max_lines: int = 40) -> st.SearchStrategy[str]:
    """Lines of several languages in any order: what no parser understands, and what one does."""
    found = st.lists(st.one_of(source_line, source_line, source_line, sentence, pieces), max_size=max_lines)
    return st.tuples(line_ends, found).map(lambda pair: pair[0].join(pair[1]))


PATHS = {
    "source": "document.py",
    "mdx": "document.mdx",
    "page": "document.md",
    "html": "document.html",
    "webpage": "document.html",
}
"""Where documents of a kind lie if that tells how they are read."""
DOCUMENTS: dict[str, Callable[[], st.SearchStrategy[str]]] = {
    "txt": texts,
    "cjk": texts,
    "mdx": mdxs,
    "page": markdowns,
    "tex": lambda: st.one_of(texs(), texs(), texts()),
    "md": lambda: st.one_of(markdowns(), markdowns(), texts()),
    "law": laws,
    "source": sources,
    "html": lambda: st.one_of(htmls(st.one_of(title, sentence)), htmls(texts(6)), texts()),
    "webpage": lambda: htmls(st.one_of(title, question_lines)),
    "json": lambda: jsons(st.one_of(title, sentence, texts(10))),
    "questions": questions,
    "code": lambda: st.one_of(codes(), texts()),
}
