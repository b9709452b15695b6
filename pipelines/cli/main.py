"""From a command line to an exit code. Every error of the job has its own; anything else is a bug and 70."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from pipelines.cli.parser import parse_arguments
from pipelines.errors import ConfigError, RechunkError
from pipelines.observe.console import Console

BUG = 70
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; `argv` defaults to the process's own. Returns the exit code, never raises."""
    try:
        arguments = parse_arguments(sys.argv[1:] if argv is None else argv)
    except SystemExit as stop:  # argparse has printed the help, the version or what is wrong with the command line
        return stop.code if isinstance(stop.code, int) else 2
    # What a library logs is for whoever debugs it; what a user should know, operations say.
    logging.basicConfig(level=logging.WARNING if arguments.debug else logging.CRITICAL, force=True)
    console = Console.standard(as_json=arguments.output == "json", debug=arguments.debug)
    return guarded(lambda: arguments.command(arguments, console), console)


def guarded(command: Callable[[], int], console: Console) -> int:
    """The exit code of `command`, whatever it raises."""
    try:
        code = command()
    except KeyboardInterrupt:
        console.message("interrupted; the table is as the last commit left it")
        code = INTERRUPTED
    except BrokenPipeError:
        code = 0
    except Exception as error:
        known = _ours(error)
        code = _report_bug(error, console) if known is None else _report(known, console)
    try:
        console.finish()
    except RechunkError as error:
        code = _report(error, console)
    return code


def _ours(error: BaseException | None) -> RechunkError | None:
    """The job's own error: `error` itself, or what Beam has wrapped because it could not copy it."""
    while error is not None and not isinstance(error, RechunkError):
        error = error.__cause__ or error.__context__ if "[while running" in str(error) else None
    return error


def _report(error: RechunkError, console: Console) -> int:
    if console.debug:
        console.trace(traceback.format_exc())
    if console.as_json:
        place = _places(error) if isinstance(error, ConfigError) else {}
        console.fault({"error": type(error).__name__, "message": str(error), "exit_code": error.exit_code, **place})
    else:
        for problem in error.problems if isinstance(error, ConfigError) else (error,):
            console.error(str(problem))
    return error.exit_code


def _places(error: ConfigError) -> dict[str, Any]:
    """Where a configuration is wrong: the first place, and all of them."""
    found = [
        {"message": str(problem), "file": problem.file, "line": problem.line, "key": problem.key}
        for problem in error.problems
    ]
    return {name: found[0][name] for name in ("file", "line", "key")} | {"problems": found}


def _report_bug(error: Exception, console: Console) -> int:
    if console.debug:
        console.trace(traceback.format_exc())
    name = type(error).__name__
    if console.as_json:
        console.fault({"error": name, "message": str(error), "exit_code": BUG})
        return BUG
    console.error(f"internal error: {name}: {error}")
    if not console.debug:
        console.message("This is a bug in rechunk. Please report it with the output of the same command with --debug.")
    return BUG
