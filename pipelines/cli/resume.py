"""Go on with a run that broke off, from its stored plan: nothing is listed, and no finished work is done again."""

from __future__ import annotations

import argparse

from pipelines.cli.run import as_json, print_outcome
from pipelines.cli.running import Reporter, add_approval, add_workers, workers_of
from pipelines.config.load import load_config
from pipelines.observe.console import Console
from pipelines.operations.resume import resume

HELP = "go on with a run that broke off"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", metavar="CONFIG", help="the configuration that the run was started with")
    parser.add_argument("run", metavar="RUN", nargs="?", help="the id of a run (default: the newest, if it broke off)")
    add_workers(parser)
    add_approval(parser)


def command(arguments: argparse.Namespace, console: Console) -> int:
    config = load_config(arguments.config)
    for warning in config.warnings:
        console.warning(warning)
    outcome = resume(
        config,
        arguments.run,
        Reporter(console),
        workers=workers_of(arguments),
        approve_deletions=arguments.approve_deletions,
        pipeline=arguments.pipeline,
    )
    if console.as_json:
        console.json_line(as_json(outcome))
    elif not outcome.summary:
        console.message(outcome.message)
    else:
        print_outcome(outcome, console)
    return outcome.exit_code
