"""Chunk one file and show the chunks: where they start and end, how long they are, and what each was cut at."""

from __future__ import annotations

import argparse
from pathlib import Path

from chunkers import strategy_kinds
from pipelines.errors import StorageError, UsageError
from pipelines.observe.console import Console, printable, printable_lines
from pipelines.operations.preview import Preview, fields_of, preview_file
from pipelines.operations.preview_page import page

HELP = "chunk one file and show the chunks"
_STYLES = ("cyan", "yellow")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a local document: text, Markdown, HTML, JSON, LaTeX, source")
    parser.add_argument("--config", metavar="CONFIG", help="chunk it as a run with this configuration would")
    parser.add_argument("--strategy", metavar="NAME", help=f"{', '.join(sorted(strategy_kinds()))} (default: auto)")
    parser.add_argument(
        "--set",
        metavar="OPTION=VALUE",
        action="append",
        default=[],
        help="an option of the strategy, the value as in YAML; may be given again (per_type.markdown.overlap=0)",
    )
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        help="tokenizer that tokens are counted with (default: the configuration's, else cl100k_base)",
    )
    parser.add_argument("--html", metavar="PAGE", help="write one HTML page to this file instead")


def command(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.config is not None and (arguments.strategy is not None or arguments.set):
        raise UsageError("--config says how to chunk, and so do --strategy and --set; leave out one of them")
    found = preview_file(
        arguments.file,
        strategy=arguments.strategy or "auto",
        settings=arguments.set,
        encoding_name=arguments.encoding,
        config_file=arguments.config,
    )
    if arguments.html is not None:
        try:
            Path(arguments.html).write_text(page(found), encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise StorageError(error.strerror or str(error), address=arguments.html) from error
        console.message(f"{arguments.html}: {arguments.file} with its chunks in colours")
    if console.as_json:
        console.json_line(found.as_json())
    elif arguments.html is None:
        _print(found, console)
    return 0


def _print(found: Preview, console: Console) -> None:
    console.pairs(fields_of(found))
    for index, span in enumerate(found.spans):
        if console.closed:
            return
        facts = f"#{index}  {span.start}-{span.end}  {found.lengths[index]} characters  {found.tokens[index]} tokens"
        console.line()
        path = " > ".join(printable(title) for title in span.headings)
        repeats = f"  repeats {span.overlap}" if span.overlap else ""
        console.line(console.style("bold", facts) + f"  ends at {span.cut}{repeats}" + (f"  {path}" if path else ""))
        if span.context:
            console.line(console.style("dim", printable_lines(span.context.rstrip("\n"))))
        console.line(console.style(_STYLES[index % 2], printable_lines(span.text(found.text))))
