"""Jobs that an engine works on alone: which engines do, what is noted of a job, and how it is later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pipelines.beam import dataflow
from pipelines.beam.engine import Engine
from pipelines.beam.errors import revived_errors
from pipelines.beam.quiet import quiet_beam
from pipelines.errors import UsageError
from pipelines.processes import import_clouds
from pipelines.work.job import Job

with quiet_beam():
    from apache_beam.options.pipeline_options import (
        FlinkRunnerOptions,
        GoogleCloudOptions,
        PipelineOptions,
        PortableOptions,
        SparkRunnerOptions,
    )
    from apache_beam.portability.api import beam_job_api_pb2
    from apache_beam.runners.portability.job_server import ExternalJobServer

    from pipelines.beam.run_graph import build, job_name
    from pipelines.beam.runners import launch

_SECONDS = 10.0
"""How long to wait for an answer of an engine."""


def submit_graph(job: Job, engine: Engine) -> str | None:
    """Give the stored plan of `job` to an engine that goes on alone, and return at once: the job's id, if it has one.

    Raises UsageError for options that do not do, and EngineFailed for an engine that does not take it.
    """
    with revived_errors():
        result = launch(engine, lambda pipeline: build(pipeline, job), name=job_name(job.run_id))
    if not getattr(result, "has_job", True):  # it was only written down, for a launcher
        return None
    found = getattr(result, "job_id", None) or getattr(result, "_job_id", None)
    return str(found() if callable(found) else found) if found else None


def refuse_attached(engine: Engine) -> None:
    """UsageError for an engine that ends with this process."""
    if engine.is_local:
        raise UsageError(
            f"--no-wait needs an engine that goes on without this process, and {engine.runner} is this process; "
            "leave it out, or name another runner"
        )
    if engine.runner in dataflow.RUNNERS:
        return
    options = PipelineOptions(list(engine.arguments))
    portable = options.view_as(PortableOptions)
    if not (portable.job_endpoint and portable.job_endpoint != "embed") and not _uploads_jar(engine, options):
        raise UsageError(
            f"--no-wait needs an engine that goes on without this process, and the job server of {engine.runner} would "
            "be a part of it; name one that runs, with --job_endpoint=host:port"
        )
    if portable.environment_type in (None, "LOOPBACK"):
        raise UsageError(
            f"--no-wait needs workers that go on without this process; say what they are, with "
            f"--environment_type=EXTERNAL, DOCKER or PROCESS (it is {portable.environment_type or 'not given'})"
        )


def writes_template(engine: Engine) -> bool:
    """Whether the job is only written, for somebody who then starts it: a launcher of a Flex Template."""
    return bool(PipelineOptions(list(engine.arguments)).view_as(GoogleCloudOptions).template_location)


def note_of(engine: Engine, job_id: str | None) -> dict[str, Any]:
    """What must be known to ask for the job's state later. No credential is in it."""
    options = PipelineOptions(list(engine.arguments))
    note: dict[str, Any] = {"runner": engine.runner, "job_id": job_id}
    if engine.runner in dataflow.RUNNERS:
        cloud = options.view_as(GoogleCloudOptions)
        place = {"project": cloud.project, "region": cloud.region, "endpoint": cloud.dataflow_endpoint}
        return note | place | {"no_auth": bool(cloud.no_auth)}
    return note | {"endpoint": options.view_as(PortableOptions).job_endpoint}


class JobState:
    """The state of a job that was noted, by Beam's name. One connection serves for all questions."""

    def __init__(self, note: Mapping[str, Any]) -> None:
        self._note = note
        self._ask: Callable[[], str] | None = None

    def look(self) -> str | None:
        """The state now; None when it cannot be known (now, or from here)."""
        if not self._note.get("job_id") or not self._note.get("endpoint"):
            return None
        try:
            with quiet_beam():
                if self._ask is None:
                    on_dataflow = self._note["runner"] in dataflow.RUNNERS
                    self._ask = _dataflow(self._note) if on_dataflow else _job_server(self._note)
                return self._ask()
        except Exception:  # no package, no network, no credentials, no job server: each library has errors of its own
            return None


def _job_server(note: Mapping[str, Any]) -> Callable[[], str]:
    service = ExternalJobServer(note["endpoint"], timeout=_SECONDS).start()
    asked = beam_job_api_pb2.GetJobStateRequest(job_id=note["job_id"])
    return lambda: str(beam_job_api_pb2.JobState.Enum.Name(service.GetState(asked, timeout=_SECONDS).state))


def _dataflow(note: Mapping[str, Any]) -> Callable[[], str]:
    import_clouds()
    from apache_beam.runners.dataflow.dataflow_runner import DataflowPipelineResult
    from apache_beam.runners.dataflow.internal.apiclient import DataflowApplicationClient

    named = {"project": note["project"], "region": note["region"], "dataflow_endpoint": note["endpoint"]}
    arguments = [f"--{name}={value}" for name, value in named.items()] + ["--no_auth"] * bool(note.get("no_auth"))
    client = DataflowApplicationClient(PipelineOptions(arguments))
    shown = DataflowPipelineResult.api_jobstate_to_pipeline_state
    return lambda: str(shown(client.get_job(note["job_id"]).current_state))


def _uploads_jar(engine: Engine, options: PipelineOptions) -> bool:
    """Whether the job goes to its cluster as a whole, at once."""
    flink, spark = options.view_as(FlinkRunnerOptions), options.view_as(SparkRunnerOptions)
    return (engine.runner == "FlinkRunner" and flink.flink_submit_uber_jar) or (
        engine.runner == "SparkRunner" and spark.spark_submit_uber_jar
    )
