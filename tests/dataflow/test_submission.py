"""Runs given to Dataflow, as far as they can be seen from here: what is staged, the graph, the job, and its state.

Dataflow is a fake that takes jobs and runs none; everything before that, and Beam's part of it, is real.
"""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from apache_beam.portability.api import beam_runner_api_pb2

from pipelines.version import VERSION
from tests.dataflow.conftest import DOCUMENTS, Cloud
from tests.packaging.venvs import ROOT, Venv

pytestmark = pytest.mark.slow

STEPS = [
    *("Run", "Tasks", "Spread tasks", "Chunk shard", "By task", "Take one", "Decide"),
    *("Shards", "Spread shards", "Publish", "Commit"),
]
IMAGE = "europe-west1-docker.pkg.dev/some-project/rechunk/worker:1"


@pytest.fixture
def sdist(distributions: Path) -> Path:
    """What workers install."""
    return distributions / f"rechunk-{VERSION}.tar.gz"


def graph_of(cloud: Cloud) -> beam_runner_api_pb2.Pipeline:
    """The graph that was staged."""
    return beam_runner_api_pb2.Pipeline.FromString(cloud.staged("pipeline.pb"))


def steps_of(graph: beam_runner_api_pb2.Pipeline) -> list[str]:
    """The steps of the job, without what Beam makes of them."""
    (root,) = graph.root_transform_ids
    transforms = graph.components.transforms
    return [transforms[name].unique_name for name in transforms[root].subtransforms]


def image_of(graph: beam_runner_api_pb2.Pipeline) -> str:
    """The image that every step runs in."""
    (image,) = {
        beam_runner_api_pb2.DockerPayload.FromString(each.payload).container_image
        for each in graph.components.environments.values()
    }
    return image


def submit(cloud: Cloud, *options: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the command says of a run that it submitted, and the job that Dataflow got."""
    done = cloud.rechunk("run", "nightly.yaml", "--no-wait", "--output", "json", "--", *cloud.service, *options)
    said = json.loads(done.stdout)
    return said, cloud.dataflow.jobs[said["job_id"]]


def test_a_run_is_staged_submitted_and_waited_for(cloud: Cloud, sdist: Path) -> None:
    (cloud.folder / "nightly.yaml").write_text(cloud.configuration())
    assert cloud.rechunk("run", "nightly.yaml", fails=False).stdout.count("chunked") == 1
    cloud.write("new.txt", "Something new.")
    (cloud.folder / "nightly.yaml").write_text(cloud.configuration(machine_type="n2-standard-2", max_num_workers=7))
    said, job = submit(cloud, f"--extra_package={sdist}")
    assert said == {"run_id": said["run_id"], "table": "gs://tables/documents", "runner": "DataflowRunner"} | {
        "job_id": "2026-01-31_00_00_00-1"
    }
    assert (job["projectId"], job["location"]) == ("some-project", "europe-west1")
    assert job["name"] == f"rechunk-{said['run_id'].lower()}"
    (workers,) = job["environment"]["workerPools"]
    assert (workers["machineType"], workers["autoscalingSettings"]["maxNumWorkers"]) == ("n2-standard-2", 7)
    assert {each["name"] for each in workers["packages"]} == {sdist.name, "extra_packages.txt"}
    assert cloud.staged(sdist.name) == sdist.read_bytes()
    assert cloud.staged("extra_packages.txt").decode().split() == [sdist.name]
    assert not [name for name in cloud.storage.buckets.objects("staging") if "main_session" in name]
    graph = graph_of(cloud)
    assert steps_of(graph) == STEPS
    assert image_of(graph) == "gcr.io/cloud-dataflow/v1beta3/beam_python3.11_sdk:2.77.0"

    running = cloud.rechunk("wait", "nightly.yaml", said["run_id"], "--timeout", "1s", fails=True)
    assert running.returncode == 124
    told = f"run {said['run_id']} is still at work; job {said['job_id']} of DataflowRunner is RUNNING"
    assert told in running.stderr
    claims = [name for name in cloud.storage.buckets.objects("tables") if "/claims/" in name]
    assert claims == [f"documents/claims/{said['run_id']}.json"]
    cloud.dataflow.states[said["job_id"]] = "JOB_STATE_CANCELLED"
    failed = cloud.rechunk("wait", "nightly.yaml", said["run_id"], fails=True)
    assert failed.returncode == 5
    assert f"job {said['job_id']} of DataflowRunner is CANCELLED, and did not do the run" in failed.stderr
    assert not [name for name in cloud.storage.buckets.objects("tables") if "/claims/" in name]


DRY = """
import json, sys
from pipelines.beam.engine import engine_for
from pipelines.beam.run_graph import build
from pipelines.beam.runners import launch
from pipelines.config.load import load_config
from pipelines.work.job import Job

config = load_config("nightly.yaml")
engine = engine_for(config, sys.argv[1:])
engine = type(engine)(runner=engine.runner, arguments=(*engine.arguments, "--dry_run=True"))
job = Job(config=config, run_id="20260131T235959Z-1f2e3d4c")
result = launch(engine, lambda pipeline: build(pipeline, job), name="night")
sys.stdout.buffer.write(result.job.proto_pipeline.SerializeToString())
"""


def test_the_graph_is_made_without_any_cloud(full_venv: Venv, sdist: Path, tmp_path: Path) -> None:
    beam = {"runner": "DataflowRunner", "project": "some-project", "region": "europe-west1"}
    written = {
        "source": [{"path": "gs://corpus/documents"}],
        "output": {"path": "gs://tables/documents"},
        "beam": {**beam, "temp_location": "gs://staging/temp"},
    }
    (tmp_path / "nightly.yaml").write_text(json.dumps(written))
    done = subprocess.run(
        [str(full_venv.bin / "python"), "-c", DRY, f"--extra_package={sdist}"],
        cwd=tmp_path,
        env=full_venv.environment(NO_GCE_CHECK="true"),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    graph = beam_runner_api_pb2.Pipeline.FromString(done.stdout)
    assert steps_of(graph) == STEPS
    assert image_of(graph) == "gcr.io/cloud-dataflow/v1beta3/beam_python3.11_sdk:2.77.0"
    staged = {
        beam_runner_api_pb2.ArtifactStagingToRolePayload.FromString(each.role_payload).staged_name
        for environment in graph.components.environments.values()
        for each in environment.dependencies
    }
    assert staged == {sdist.name, "extra_packages.txt"}


def test_an_image_that_has_everything_needs_nothing_staged(cloud: Cloud) -> None:
    (cloud.folder / "nightly.yaml").write_text(cloud.configuration(sdk_container_image=IMAGE))
    _, job = submit(cloud)
    (workers,) = job["environment"]["workerPools"]
    assert workers.get("packages", []) == []
    assert image_of(graph_of(cloud)) == IMAGE
    assert [each["containerImage"] for each in workers["sdkHarnessContainerImages"]] == [IMAGE]


@pytest.mark.parametrize("path", ["setup.py", str(ROOT / "setup.py")])
def test_a_setup_file_becomes_the_sdist(cloud: Cloud, path: str, tmp_path: Path) -> None:
    source = tmp_path / "source"  # building writes into the folder of the setup file
    source.mkdir()
    for name in (
        "setup.py",
        "pyproject.toml",
        "MANIFEST.in",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "constraints.txt",
    ):
        (source / name).write_bytes((ROOT / name).read_bytes())
    for package in ("chunkers", "pipelines"):
        (source / package).symlink_to(ROOT / package)
    configured = cloud.configuration()
    (cloud.folder / "nightly.yaml").write_text(configured)
    cloud = Cloud(cloud.storage, cloud.dataflow, cloud.venv, source if path == "setup.py" else cloud.folder)
    (cloud.folder / "nightly.yaml").write_text(cloud.configuration(region="europe-west4"))
    _, job = submit(cloud, f"--setup_file={path if path == 'setup.py' else source / 'setup.py'}")
    (workers,) = job["environment"]["workerPools"]
    assert [each["name"] for each in workers["packages"]] == ["workflow.tar.gz"]
    with tarfile.open(fileobj=io.BytesIO(cloud.staged("workflow.tar.gz"))) as archive:
        names = {member.name.partition("/")[2] for member in archive}
    assert {"setup.py", "pipelines/beam/run_graph.py", "chunkers/measure/encodings/cl100k_base.tiktoken"} <= names


def test_a_template_is_launched_each_night_whether_or_not_there_is_anything_to_do(cloud: Cloud) -> None:
    (cloud.folder / "nightly.yaml").write_text(cloud.configuration())
    cloud.rechunk("run", "nightly.yaml")
    night = cloud.configuration(sdk_container_image=IMAGE).encode()
    cloud.storage.buckets.put("staging", "nightly.yaml", night, conditions=conditions())
    launch = ["python", str(ROOT / "configs/dataflow/launch.py"), "--config=gs://staging/nightly.yaml"]
    written = "--template_location=gs://staging/launches/1/job_object"
    launched = cloud.program(
        *launch, "--full=false", "--runner=DataflowRunner", "--job_name=night", written, "--no_auth"
    )
    assert "submitted" in launched.stderr
    assert cloud.dataflow.jobs == {}
    job = json.loads(cloud.staged("job_object"))
    assert job["name"] == "night"
    assert steps_of(graph_of(cloud)) == STEPS
    (run_id,) = (line.split()[1] for line in launched.stdout.splitlines() if line.startswith("run "))
    waited = cloud.rechunk("wait", "nightly.yaml", run_id, "--timeout", "1s", fails=True)
    assert waited.returncode == 124
    # Somebody else does what the template says: the plan is stored, and the way from it does not differ.
    resumed = cloud.rechunk("resume", "nightly.yaml", run_id)
    assert f"warning: run {run_id} is at work on this table too" in resumed.stderr
    assert resumed.stderr.endswith("gs://tables/documents: nothing changed\n")
    assert cloud.rechunk("wait", "nightly.yaml", run_id).stderr == "gs://tables/documents: nothing changed\n"


def test_what_dataflow_would_only_say_later_is_said_at_once(cloud: Cloud) -> None:
    (cloud.folder / "nightly.yaml").write_text(cloud.configuration())
    before = cloud.storage.count()
    for options, problem in [
        ([], "would not have rechunk: give them an image that has it (--sdk_container_image)"),
        (["--extra_package=none.tar.gz"], "--extra_package is none.tar.gz, which is no file"),
        (["--setup_file=none.py"], "--setup_file is none.py, which is no file"),
        (["--sdk_container_image=x", "--temp_location=gs://t/x"], "--temp_location is 'gs://t/x', which is no folder"),
    ]:
        (cloud.folder / "nightly.yaml").write_text(cloud.configuration(region="europe-west1"))
        done = cloud.rechunk("run", "nightly.yaml", "--", *options, fails=True)
        assert done.returncode == 2, options
        assert problem in done.stderr
    assert cloud.storage.count() == before
    assert len(cloud.storage.buckets.objects("corpus")) == DOCUMENTS


def conditions() -> Any:
    from tests.servers.gcs_objects import Conditions

    return Conditions()
