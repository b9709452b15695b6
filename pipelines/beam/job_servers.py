"""What must be put right in Beam's way with job servers."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from apache_beam.portability.api import beam_job_api_pb2

from chunkers.errors import nearest
from pipelines.errors import UsageError

_STREAMS = ("GetStateStream", "GetMessageStream")
_LIBRARIES = ("/apache_beam/", "/grpc/")


def put_right(runner: Any, name: str, unknown: Sequence[str]) -> None:
    """Make a runner talk to its job server as it should; `unknown` are options that Beam's Python does not know.

    Beam drops options that nobody knows: here UsageError is raised before the server gets the graph. And Beam limits
    how long it listens for a job's states by the time that a request may take: a job of Prism would be given up after
    five minutes.
    """
    connect = runner.create_job_service_handle

    def connected(service: Any, options: Any) -> Any:
        if unknown:
            _check(service, name, unknown)
        return connect(_Patient(service), options)

    runner.create_job_service_handle = connected


def silence_threads() -> None:
    """Keep what threads of Beam raise off the terminal, for good: when a connection breaks, a dozen of them do.

    The thread that waits for the job raises it, too.
    """
    before = threading.excepthook
    if getattr(before, "silences", False):
        return

    def hook(raised: threading.ExceptHookArgs) -> None:
        frames = traceback.extract_tb(raised.exc_traceback)
        if not any(library in frame.filename for frame in frames for library in _LIBRARIES):
            before(raised)

    hook.silences = True  # type: ignore[attr-defined]
    threading.excepthook = hook


class _Patient:
    """A job service that is listened to for as long as a job takes."""

    def __init__(self, service: Any) -> None:
        self._service = service

    def __getattr__(self, name: str) -> Any:
        call: Callable[..., Any] = getattr(self._service, name)
        if name in _STREAMS:
            return lambda request, timeout=None, **more: call(request, **more)
        return call


def _check(service: Any, name: str, unknown: Sequence[str]) -> None:
    answer = service.DescribePipelineOptions(beam_job_api_pb2.DescribePipelineOptionsRequest())
    known = {each.name for each in answer.options}
    wrong = [f"--{option}{nearest(option, known)}" for option in unknown if option not in known]
    if known and wrong:  # those that upload a jar themselves have no list, and pass on whatever they get
        raise UsageError(
            f"neither Beam nor the job server of {name} has the option {', '.join(wrong)}; "
            f"the job server has {', '.join(sorted(known))}"
        )
