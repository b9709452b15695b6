"""Check a configuration without reading any source: every key, every glob, every strategy's options."""

from __future__ import annotations

import argparse
import json

from pipelines.config.schema import schema
from pipelines.observe.console import Console
from pipelines.operations.validate import describe

HELP = "check a configuration without reading any source"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("config", metavar="CONFIG", nargs="?", help="the configuration, a YAML file")
    what.add_argument("--schema", action="store_true", help="print the JSON Schema of configurations, for editors")


def command(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.schema:
        console.line(json.dumps(schema(), indent=2))
        return 0
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
