"""List the chunking strategies, or one of them with its options: type, default and what a number counts."""

from __future__ import annotations

import argparse
import dataclasses
import json

from pipelines.observe.console import Console
from pipelines.operations.strategies import Description, Option, describe, describe_all

HELP = "list the strategies and their options"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="one strategy (default: all)")


def command(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.name is None:
        found = describe_all()
        if console.as_json:
            console.json_line([dataclasses.asdict(each) for each in found])
        else:
            console.table(("strategy", "what it does"), [(each.name, each.summary) for each in found])
        return 0
    strategy = describe(arguments.name)
    if console.as_json:
        console.json_line(dataclasses.asdict(strategy))
    else:
        _print(strategy, console)
    return 0


def _print(strategy: Description, console: Console) -> None:
    console.line(f"{console.style('bold', strategy.name)}  (version {strategy.version})")
    console.line(strategy.summary)
    console.line()
    rows = [(option.name, option.type, _default(option), option.unit or "") for option in strategy.options]
    console.table(("option", "type", "default", "counts"), rows)
    console.line()
    console.line(strategy.help)


def _default(option: Option) -> str:
    return "(required)" if option.required else json.dumps(option.default, ensure_ascii=False, default=str)
