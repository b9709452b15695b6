"""Giving a graph to a runner, and waiting for its end."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions, SetupOptions
from apache_beam.options.pipeline_options_validator import PipelineOptionsValidator
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.runners.runner import PipelineResult, create_runner
from apache_beam.transforms.environments import SubprocessSDKEnvironment

from pipelines.beam.engine import Engine
from pipelines.beam.errors import engine_failed
from pipelines.beam.job_servers import put_right, silence_threads
from pipelines.beam.options import unknown_to_beam
from pipelines.errors import EngineFailed, RechunkError, UsageError
from pipelines.processes import import_clouds, python_path

Build = Callable[[beam.Pipeline], None]

_QUIET = "--default_sdk_harness_log_level=ERROR"


def run_pipeline(engine: Engine, build: Build, *, name: str) -> None:
    """Build a graph, run it on `engine`, and wait for its end. `name` is what the engine calls the job.

    Raises UsageError for options that do not do, EngineFailed when the engine ends otherwise than by doing the job, and
    whatever steps raise where the runner lets it through.
    """
    if engine.is_local:
        with beam.Pipeline(runner=_local_runner(engine.workers or 1), options=_local_options(engine)) as pipeline:
            build(pipeline)
        return
    with _interruptible():
        wait_for(launch(engine, build, name=name), engine)


def launch(engine: Engine, build: Build, *, name: str) -> PipelineResult:
    """Give the graph to a runner that is not local, and return at once."""
    if any("://" in argument for argument in engine.arguments):  # Beam may put files there
        import_clouds()
    silence_threads()
    runner, options = _remote(engine, name)
    pipeline = beam.Pipeline(runner=runner, options=options)
    build(pipeline)
    try:
        return pipeline.run()
    except RechunkError:
        raise
    except Exception as error:
        what = f"{engine.runner} could not be given the run"
        if engine.runner == "PrismRunner" and not any("--prism_location" in each for each in engine.arguments):
            what += " (its program was to be downloaded: --prism_location names one that is here)"
        raise engine_failed(what, _said(error)) from error


def wait_for(result: PipelineResult, engine: Engine) -> None:
    """Wait for the end of a job; an interrupt cancels it."""
    try:
        state = result.wait_until_finish()
    except KeyboardInterrupt:
        with suppress(Exception):
            result.cancel()
        raise
    except RechunkError:
        raise
    except Exception as error:
        if _is_of_connection(error):
            raise EngineFailed(
                f"{engine.runner} does not answer any more ({_said(error)}), so what becomes of the run is not known; "
                "`rechunk resume` goes on with its plan, whether the job is still at work or not"
            ) from error
        raise engine_failed(f"{engine.runner} did not finish the run", _said(error)) from error
    if state not in (None, "DONE"):
        raise engine_failed(f"{engine.runner} did not finish the run", f"the job is {state}")


def _is_of_connection(error: Exception) -> bool:
    """Whether it is gRPC's error (which Beam brings along), and no answer of the engine."""
    return hasattr(error, "code") and hasattr(error, "details")


def _said(error: Any) -> str:
    """What an error says; one of a connection says it in its own way."""
    return f"{error.code().name}: {error.details()}" if _is_of_connection(error) else str(error) or repr(error)


def _local_runner(workers: int) -> Any:
    """FnApiRunner, which `DirectRunner` resolves to: by its own name that first tries to download another."""
    return FnApiRunner(default_environment=_processes() if workers > 1 else None)


def _local_options(engine: Engine) -> PipelineOptions:
    return PipelineOptions([f"--direct_num_workers={engine.workers or 1}", _QUIET, *engine.arguments])


def _processes() -> Any:
    """Worker processes that can import whatever this one can."""
    command = f"PYTHONPATH={shlex.quote(python_path())} exec {shlex.quote(sys.executable)} -m pipelines.beam.worker"
    return SubprocessSDKEnvironment.from_command_string(command)


def _remote(engine: Engine, name: str) -> tuple[Any, PipelineOptions]:
    """Another runner and its options. UsageError for what Beam itself says is wrong with them."""
    # Steps live in modules that workers import; what is in __main__ is nobody's business.
    options = PipelineOptions([f"--job_name={name}", "--no_save_main_session", _QUIET, *engine.arguments])
    setup = options.view_as(SetupOptions)
    if setup.setup_file is not None:
        setup.setup_file = os.path.abspath(setup.setup_file)
    try:
        runner = create_runner(engine.runner)
    except ImportError as error:
        raise UsageError(f"the runner {engine.runner} needs a package that is missing: {error}") from None
    wrong = PipelineOptionsValidator(options, runner).validate()
    if wrong:
        raise UsageError(f"{engine.runner} cannot be used so: {'; '.join(wrong)}")
    if hasattr(runner, "create_job_service_handle"):
        put_right(runner, engine.runner, unknown_to_beam(engine.arguments))
    return runner, options


@contextmanager
def _interruptible() -> Iterator[None]:
    """In here Ctrl-C raises KeyboardInterrupt: the job, and what Beam has started for it, must be told."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
