"""The command line. Options that every command has may stand before or after the command's name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pipelines.cli import (
    changes,
    files,
    gc,
    plan,
    preview,
    resume,
    rollback,
    run,
    show,
    strategies,
    validate,
    verify,
    wait,
    watch,
)
from pipelines.cli.running import PIPELINE_OPTIONS
from pipelines.version import VERSION

COMMANDS = (validate, strategies, preview, plan, run, wait, watch, show, files, changes, verify, resume, gc, rollback)

ENGINE_COMMANDS = (run, watch, resume)
"""Those that may be followed by `--` and pipeline options."""

EXIT_CODES = """\
exit codes:
  0    done, or nothing to do (documents that failed are rows of the table, not an error)
  1    published, but a soft gate failed
  2    usage or configuration; nothing was read
  3    plan --detailed-exitcode: a run would change the table
  4    deletions were withheld, or a source could not be listed whole; the rest was published
       (plan --detailed-exitcode: that would be so)
  5    nothing published: storage out of reach, the engine failed, or a hard gate did
  6    the table is missing, damaged, foreign, or another run was first
  70   a bug in rechunk
  124  wait --timeout: the run is still at work
  130  interrupted
  143  terminated
"""


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line as a namespace; `command` is the function to call. Exits as argparse does (2 for usage)."""
    parser = argparse.ArgumentParser(
        prog="rechunk",
        description="Chunk a corpus into Parquet with exact offsets, and list exactly the chunks that became stale.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"rechunk {VERSION}")
    _add_common(parser, "text", debug=False)
    common = argparse.ArgumentParser(add_help=False)
    _add_common(common, argparse.SUPPRESS, debug=argparse.SUPPRESS)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in COMMANDS:
        name = module.__name__.rpartition(".")[2]
        command = commands.add_parser(
            name, help=module.HELP, description=module.__doc__, parents=[common], allow_abbrev=False
        )
        module.add_arguments(command)
        command.set_defaults(command=module.command, parser=command)
        if module in ENGINE_COMMANDS:
            command.epilog = PIPELINE_OPTIONS
    own, pipeline = _parted(argv)
    arguments, rest = parser.parse_known_args(own)
    arguments.pipeline = pipeline
    parser_used: argparse.ArgumentParser = arguments.parser
    if rest:  # argparse would show the usage of the whole, which has none of the command's options
        parser_used.error(f"unrecognized arguments: {' '.join(rest)}")
    del arguments.parser
    return arguments


def _parted(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is before `--` and after it. For other commands it means what it always does."""
    names = {module.__name__.rpartition(".")[2] for module in ENGINE_COMMANDS}
    arguments = list(argv)
    if "--" not in arguments or not names & set(arguments[: arguments.index("--")]):
        return arguments, []
    place = arguments.index("--")
    return arguments[:place], arguments[place + 1 :]


def _add_common(parser: argparse.ArgumentParser, output: str, *, debug: bool | str) -> None:
    parser.add_argument("--output", choices=("text", "json"), default=output, help="form of the data on stdout")
    parser.add_argument("--debug", action="store_true", default=debug, help="show tracebacks")
