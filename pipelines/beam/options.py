"""Beam's pipeline options: which there are, and what is wrong with those that are given."""

from __future__ import annotations

import argparse
import difflib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, NoReturn

from chunkers.errors import nearest
from pipelines.beam.quiet import quiet_beam
from pipelines.config.model import LOCAL_RUNNERS
from pipelines.errors import UsageError

with quiet_beam():
    from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions, _BeamArgumentParser

RUNNERS: tuple[str, ...] = tuple(StandardOptions.KNOWN_RUNNER_NAMES)

JOB_SERVERS = ("PortableRunner", "FlinkRunner", "SparkRunner", "KafkaStreamsRunner")
"""Runners that talk to a job server, which may know options of its own."""

_OWN: Mapping[str, tuple[str, ...]] = {
    "FlinkRunnerOptions": ("FlinkRunner", "PortableRunner"),
    "SparkRunnerOptions": ("SparkRunner", "PortableRunner"),
    "KafkaStreamsRunnerOptions": ("KafkaStreamsRunner", "PortableRunner"),
    "PrismRunnerOptions": ("PrismRunner",),
}
"""Beam's classes of options that mean something to these runners only."""

_NOT_LOCAL = (*_OWN, "PortableOptions", "JobServerOptions", "GoogleCloudOptions", "WorkerOptions")
"""Beam's classes of options that would do nothing on this machine."""

_TYPO = 0.9
"""How alike a name must be to one that Beam knows to be no option of a job server (`spark_master` is one)."""

_TAKEN: Mapping[str, str] = {
    "direct_num_workers": "is what --workers says; use that",
    "direct_running_mode": "is what --workers decides; use that",
    "save_main_session": "would do nothing: workers import what they need, nothing lives in a main session",
    "no_save_main_session": "is what is always done; leave it out",
    "streaming": "does not fit: a run reads what is there, and ends",
    "no_wait_until_finish": "does not fit: a run waits for its commit; `rechunk run --no-wait` does not",
    "wait_until_finish_duration": "does not fit: a run waits for its commit",
    "dry_run": "makes a graph that nobody runs; `rechunk plan` says what a run would do",
    "output_executable_path": "makes a jar instead of running",
}


_FILES = ("setup_file", "extra_package", "extra_packages", "requirements_file")
"""Options whose files go to the workers."""


class _Parser(_BeamArgumentParser):
    """Beam's own parser, which raises instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def read_options(configured: Mapping[str, Any], arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The runner, and all options as a command line: those of the configuration, then those of the command line.

    UsageError names every option of the command line that cannot be used, and what Beam's own checks say.
    """
    given = list(_split(arguments))
    runner = configured.get("runner", LOCAL_RUNNERS[0])
    for name, tokens in given:
        if name == "runner":
            runner = tokens[-1].partition("=")[2] if len(tokens) == 1 else tokens[1]
    runner = runner_named(runner)
    wrong = [f"--{name} {problem}" for name, tokens in given if (problem := problem_with(runner, name, tokens))]
    for name, value in configured.items():  # the command line may have named another runner than they are for
        if name != "runner" and (problem := problem_with(runner, name, tokens_of(name, value))):
            wrong.append(f"beam.{name} {problem}")
    if runner == "PortableRunner" and "job_endpoint" not in {*configured, *(name for name, _ in given)}:
        wrong.append("PortableRunner needs the option job_endpoint, as --job_endpoint=host:port of a job server")
    if wrong:
        raise UsageError("\n".join(wrong))
    found = [token for name, value in configured.items() if name != "runner" for token in tokens_of(name, value)]
    found += [token for name, tokens in given if name != "runner" for token in tokens]
    return runner, found


def runner_named(name: str) -> str:
    """Beam's spelling of a runner's name, or an import path as it is. UsageError for anything else."""
    for known in RUNNERS:
        if name.lower() in (known.lower(), known.lower().removesuffix("runner")):
            return known
    if "." not in name:
        raise UsageError(
            f"{name!r} is not a runner{nearest(name, RUNNERS)}; there are {', '.join(RUNNERS)}, "
            "and any other by its import path"
        )
    module, _, kind = name.rpartition(".")
    try:
        getattr(import_module(module), kind)  # which makes its options known, too
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"the runner {name} cannot be imported: {error}") from None
    return name


def tokens_of(name: str, value: Any) -> list[str]:
    """An option with a value of the configuration, as a command line has it. UsageError where it cannot have it."""
    action = _actions().get(name)
    if isinstance(value, bool):
        if action is not None and action.nargs != 0:
            return [f"--{name}={str(value).lower()}"]
        if value:
            return [f"--{name}"]
        off = [flag for flag, other in _actions().items() if _switches_off(action, other)]
        return [f"--{flag}" for flag in off[:1]]
    if isinstance(value, list):
        return [token for item in value for token in tokens_of(name, item)]
    return [f"--{name}={json.dumps(value) if isinstance(value, dict) else value}"]


def problem_with(runner: str, name: str, tokens: Sequence[str]) -> str:
    """What is wrong with an option of `runner`, as a predicate; empty if nothing is."""
    action = _actions().get(name)
    if action is None:
        typo = difflib.get_close_matches(name, _actions(), n=1, cutoff=_TYPO)
        if (runner in JOB_SERVERS or "." in runner) and not typo:
            return ""  # whoever gets it is asked (runners.py)
        return f"is not a pipeline option of {runner}{nearest(name, list(_actions()))}; {_allowed(runner)}"
    if name in _TAKEN:
        return _TAKEN[name]
    owner = _owners()[name]
    if runner in LOCAL_RUNNERS and owner in _NOT_LOCAL:
        return f"would do nothing: the runner is {runner}, which works on this machine"
    if owner in _OWN and runner not in _OWN[owner] and runner in RUNNERS:
        return f"is an option of {' and '.join(_OWN[owner])}, but the runner is {runner}"
    try:
        parsed = vars(_parser().parse_args(list(tokens)))
    except UsageError as error:
        return f"cannot be used: {str(error).partition(': ')[2] or error}"
    for file in _files_in(parsed[action.dest]) if name in _FILES else ():
        if not os.path.isfile(file):
            return f"is {file}, which is no file"
    return ""


def _files_in(value: str | list[str]) -> list[str]:
    """The local files that an option names."""
    return [file for file in ([value] if isinstance(value, str) else value) if "://" not in file]


def _split(arguments: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each option with its tokens. UsageError for what is none."""
    rest = list(arguments)
    while rest:
        token = rest.pop(0)
        name, equals, _ = token.removeprefix("--").partition("=")
        if not token.startswith("--") or not name:
            raise UsageError(
                f"{token!r} is not a pipeline option; after -- there may be options of Beam, as --name=value"
            )
        action = _actions().get(name)
        takes = not equals and (action.nargs != 0 if action else bool(rest) and not rest[0].startswith("--"))
        if takes and not rest:
            raise UsageError(f"--{name} needs a value")
        yield name, [token, rest.pop(0)] if takes else [token]


def _allowed(runner: str) -> str:
    """What to say of the options that there are."""
    own = sorted(name for name, owner in _owners().items() if runner == _OWN.get(owner, ("",))[0])
    general = "Beam's general pipeline options are allowed"
    return f"{general}, and {runner}'s own: {', '.join(own)}" if own else general


def _switches_off(action: argparse.Action | None, other: argparse.Action) -> bool:
    return (
        action is not None
        and other.dest == action.dest
        and isinstance(other, argparse._StoreFalseAction)
        and not isinstance(action, argparse._StoreFalseAction)
    )


@lru_cache(maxsize=8)
def _made(count: int) -> tuple[_Parser, dict[str, str]]:
    """Beam's whole parser, and the class of options that each option belongs to."""
    parser = _Parser(allow_abbrev=False)
    owners: dict[str, str] = {}
    kinds = {str(kind): kind for kind in PipelineOptions.__subclasses__()}  # as Beam does it
    for kind in kinds.values():
        before = set(parser._option_string_actions)
        kind._add_argparse_args(parser)
        owners.update((flag[2:], kind.__name__) for flag in parser._option_string_actions if flag not in before)
    return parser, owners


def _parser() -> _Parser:
    return _made(len(PipelineOptions.__subclasses__()))[0]


def _owners() -> Mapping[str, str]:
    owners = _made(len(PipelineOptions.__subclasses__()))[1]
    return {name: owner for name, owner in owners.items() if name not in ("h", "help")}


def _actions() -> Mapping[str, argparse.Action]:
    return {
        flag[2:]: action for flag, action in _parser()._option_string_actions.items() if flag not in ("-h", "--help")
    }


def unknown_to_beam(arguments: Sequence[str]) -> list[str]:
    """The names among `arguments` that only a job server may know."""
    return [name for name, _ in _split(arguments) if name not in _actions()]
