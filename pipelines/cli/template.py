"""`rechunk run --no-wait` as the launcher of a Dataflow Flex Template starts it: parameters become options.

The launcher gives each parameter as `--name=value`, and adds options of Beam (where the job's graph goes, the project,
workers). A parameter that was left empty is not there.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pipelines.cli.main import main

PARAMETERS = ("config", "approve_deletions", "full", "prune", "objects")
"""The template's own parameters; any other is an option of Beam."""

_IGNORED = ("--save_main_session", "--no_save_main_session")
"""Options that a launcher may add: nothing of the job lives in its main module."""


def launch(argv: Sequence[str] | None = None) -> int:
    """Run one launch; `argv` defaults to the process's own. Returns the exit code of `rechunk run --no-wait`."""
    return main(command_line(argv))


def command_line(argv: Sequence[str] | None = None) -> list[str]:
    """The command line of `rechunk` for a launch. Exits with 2 where the template's own parameters are wrong."""
    parser = argparse.ArgumentParser(prog="launch", allow_abbrev=False)
    parser.add_argument("--config", required=True)
    parser.add_argument("--approve_deletions", default="")
    parser.add_argument("--full", type=_flag, default=False)
    parser.add_argument("--prune", type=_flag, default=False)
    parser.add_argument("--objects", default="")
    given, rest = parser.parse_known_args(argv)
    own = ["run", given.config, "--no-wait"]
    own += ["--full"] if given.full else []
    own += ["--prune"] if given.prune else []
    own += ["--approve-deletions", given.approve_deletions] if given.approve_deletions else []
    own += ["--objects", given.objects] if given.objects else []
    return [*own, "--", *(option for option in rest if option.partition("=")[0] not in _IGNORED)]


def _flag(text: str) -> bool:
    if text not in ("true", "false", ""):
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return text == "true"
