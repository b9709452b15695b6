"""Check a configuration without reading any source: every key, every glob, every strategy's options."""

from __future__ import annotations

import argparse

from pipelines.observe.console import Console
from pipelines.operations.validate import describe

HELP = "check a configuration without reading any source"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", metavar="CONFIG", help="the configuration, a YAML file")


def command(arguments: argparse.Namespace, console: Console) -> int:
    found = describe(arguments.config)
    for warning in found.warnings:
        console.warning(warning)
    if console.as_json:
        console.json_line(found.as_json())
        return 0
    console.line(f"{arguments.config} is valid.")
    console.line()
    console.pairs({"name": found.name, "table": found.table, "token counts": found.tokens or "off"})
    console.line()
    console.table(("source", "include", "exclude"), found.sources)
    console.line()
    console.table(("rule", "strategy", "options"), found.rules)
    return 0
