"""A document and its chunks as one HTML page that needs nothing else, and in which nothing of the document is alive."""

from __future__ import annotations

import html

from pipelines.observe.console import printable, printable_lines
from pipelines.operations.preview import Piece, Preview, fields_of, pieces

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #222 }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.6 ui-monospace, monospace }
dt { float: left; clear: left; width: 7rem; color: #666 } dd { margin: 0 0 0 7rem }
.a { background: #dcebff } .b { background: #ffeccc } .r { background: #cfe8c6 }
.d { background: #eee; color: #888; text-decoration: line-through } .n { color: #999 }
.e { border-right: 2px solid #c33 } section { border-top: 1px solid #ddd; margin-top: 1rem }
section h2 { font-size: 1rem; margin: .6rem 0 0 } section p { margin: 0; color: #666 }
@media (prefers-color-scheme: dark) { body { background: #1b1b1b; color: #ddd } .a { background: #1f3a5f }
 .b { background: #574017 } .r { background: #2c4a24 } .d { background: #333 } section p, dt { color: #999 } }
""".strip()


def page(preview: Preview) -> str:
    """The page. No scripts, no addresses: a policy forbids both, whatever the document holds."""
    facts = "".join(
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(printable(str(value)))}</dd>"
        for name, value in fields_of(preview).items()
    )
    document = "".join(_piece(preview, piece) for piece in pieces(preview))
    chunks = "".join(_chunk(preview, index) for index in range(len(preview.spans)))
    title = html.escape(printable(f"{preview.file}: {len(preview.spans)} chunks"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{_STYLE}</style></head><body>\n<h1>{title}</h1>\n<dl>{facts}</dl>\n"
        '<p><span class="a">chunk</span> <span class="b">next chunk</span> <span class="r">in both</span> '
        '<span class="d">dropped</span></p>\n'
        f"<pre>{document}</pre>\n{chunks}</body></html>\n"
    )


def _piece(preview: Preview, piece: Piece) -> str:
    text = html.escape(printable_lines(preview.text[piece.start : piece.end]))
    if piece.chunk is None:
        tip = "" if piece.drop is None else f' title="dropped: {html.escape(piece.drop)}"'
        return f'<span class="{"n" if piece.drop is None else "d"}"{tip}>{text}</span>'
    span = preview.spans[piece.chunk]
    colour = "r" if piece.repeated_in is not None else "ab"[piece.chunk % 2]
    ends = " e" if piece.end == span.end else ""
    names = f"#{piece.chunk}" if piece.repeated_in is None else f"#{piece.chunk} and #{piece.repeated_in}"
    return f'<span class="{colour}{ends}" title="{names}, ends at {html.escape(span.cut)}">{text}</span>'


def _chunk(preview: Preview, index: int) -> str:
    span = preview.spans[index]
    facts = [
        f"{span.start}–{span.end}",
        f"{preview.lengths[index]} characters",
        f"{preview.tokens[index]} tokens",
        f"ends at {span.cut}",
    ]
    if span.overlap:
        facts.append(f"repeats {span.overlap}")
    path = " › ".join(html.escape(printable(title)) for title in span.headings)
    context = f'<span class="n">{html.escape(printable_lines(span.context))}</span>' if span.context else ""
    text = html.escape(printable_lines(span.text(preview.text)))
    return (
        f'<section><h2 class="{"ab"[index % 2]}">#{index}</h2><p>{html.escape(" · ".join(facts))}</p>'
        f"<p>{path}</p><pre>{context}{text}</pre></section>\n"
    )
