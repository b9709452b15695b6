"""On what the graph runs: which of Beam's runners, and what it is told. Imports no Beam, which costs half a second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pipelines.beam import dataflow
from pipelines.config.addresses import protocol_of
from pipelines.config.model import LOCAL_RUNNERS, Config
from pipelines.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A runner by Beam's name or its import path, with pipeline options as a command line has them.

    `workers` are processes of this machine, for local runners; None: as many as the work is worth.
    """

    runner: str = LOCAL_RUNNERS[0]
    arguments: tuple[str, ...] = field(default=(), repr=False)  # some of Beam's options are credentials
    workers: int | None = None

    @property
    def is_local(self) -> bool:
        """Whether this process, or processes of its own, do the work."""
        return self.runner in LOCAL_RUNNERS

    @property
    def needs_beam(self) -> bool:
        """Whether Beam has a part in it: not where one process does all, unless a runner is named or pipeline options.

        `DirectRunner` is what Beam runs on where nobody says anything.
        """
        return self.runner != LOCAL_RUNNERS[0] or bool(self.arguments) or (self.workers or 1) > 1


def engine_for(config: Config, arguments: Sequence[str] = (), workers: int | None = None) -> Engine:
    """The engine of the configuration, `arguments` (pipeline options of the command line) above it.

    UsageError for options that Beam does not have, and for what does not go together.
    """
    runner = config.beam.get("runner", LOCAL_RUNNERS[0])
    if arguments or runner not in LOCAL_RUNNERS or len(config.beam) > 1:
        from pipelines.beam.options import read_options

        runner, arguments = read_options(config.beam, arguments)
    engine = Engine(runner=runner, arguments=tuple(arguments), workers=workers)
    _refuse_contradictions(config, engine)
    return engine


def local_engine(workers: int | None = None) -> Engine:
    """This machine, whatever the configuration says: for what writes nothing that others read."""
    return Engine(workers=workers)


def _refuse_contradictions(config: Config, engine: Engine) -> None:
    if engine.is_local:
        return
    if engine.workers is not None:
        raise UsageError(
            f"--workers is for processes of this machine, but the runner is {engine.runner}, which has workers of its "
            "own; leave out one of them"
        )
    for address in (config.output.path, *(source.path for source in config.sources)):
        protocol = protocol_of(address)
        if protocol == "memory":
            raise UsageError(f"{address} is in this process's memory, which no worker of {engine.runner} can see")
        if protocol in ("file", "local") and engine.runner in dataflow.RUNNERS:
            raise UsageError(
                f"{address} is on this machine's disk, which no worker of {engine.runner} can see; "
                "it must be in an object store, as gs://bucket/folder"
            )
    if engine.runner in dataflow.RUNNERS:
        dataflow.refuse_unready(engine.runner, engine.arguments)
