"""The section `beam`: a runner, and pipeline options for it."""

from __future__ import annotations

from functools import partial
from typing import Any

from pipelines.config.model import LOCAL_RUNNERS, Hidden
from pipelines.config.reader import Section
from pipelines.errors import UsageError


def read_engine(top: Section) -> Hidden:
    """The section as it is, its options checked against those that Beam has."""
    if not top.has("beam"):
        return Hidden()
    section = Section(top.tree, ("beam",), top.get("beam"), ("runner",), open_ended=True)
    runner = section.text("runner")
    options = {name: value for name, value in section.values.items() if name != "runner"}
    if not top.tree.is_sound("beam") or (runner in LOCAL_RUNNERS and not options):
        return Hidden(section.values)
    from pipelines.beam.options import runner_named  # importing Beam takes half a second

    try:
        runner = runner_named(runner)
    except UsageError as error:
        raise section.error("runner", f"is wrong: {error}") from None
    for name, value in options.items():
        top.tree.attempt(partial(_check, section, runner, name, value), None)
    return Hidden({"runner": runner, **options})


def _check(section: Section, runner: str, name: str, value: Any) -> None:
    from pipelines.beam.options import problem_with, tokens_of

    if value is None or value == []:
        raise section.error(name, "has no value; leave it out")
    if isinstance(value, list) and any(isinstance(item, list | dict) or item is None for item in value):
        raise section.error(name, "is a list of more than plain values")
    for token in tokens_of(name, value) or [f"--{name}"]:
        if problem := problem_with(runner, name, [token]):
            raise section.error(name, problem)
