"""Workers that have nothing but Beam and the sdist do a run of somebody who has the wheel.

The source tree is in neither environment. Workers are an external pool, as on a cluster: it starts `python`, whichever
comes first in its PATH.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.packaging.venvs import ROOT, Venv

pytestmark = pytest.mark.slow

CONFIG = """\
source: [{path: documents}]
chunking: {default: {strategy: auto, max_size: 400, max_tokens: 100, overlap: 0}}
tokens: {encoding_name: cl100k_base}
output: {path: table, task_bytes: 16KiB}
gates: {failed_documents: {soft: 50%}}
"""


@contextmanager
def serving(venv: Venv, *command: str, port: int, log: Path) -> Iterator[None]:
    """A program of `venv` that listens on `port`; it and what it started end with this."""
    with open(log, "wb") as written:
        process = subprocess.Popen(
            [str(venv.bin / "python"), "-m", *command],
            cwd=log.parent,
            env=venv.environment(),
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            for _ in range(600):
                with socket.socket() as tried:
                    if tried.connect_ex(("localhost", port)) == 0:
                        break
                assert process.poll() is None, log.read_text()
                time.sleep(0.1)
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return int(found.getsockname()[1])


@pytest.fixture
def pool(sdist_venv: Venv, tmp_path: Path) -> Iterator[list[str]]:
    """A pool of workers in an environment of its own, and the options to reach it."""
    port = free_port()
    command = ("apache_beam.runners.worker.worker_pool_main", f"--service_port={port}")
    with serving(sdist_venv, *command, port=port, log=tmp_path / "pool.log"):
        yield ["--runner=PortableRunner", "--environment_type=EXTERNAL", f"--environment_config=localhost:{port}"]


@pytest.fixture
def job_server(wheel_venv: Venv, tmp_path: Path) -> Iterator[str]:
    """The address of a job server that goes on when whoever submits is gone."""
    port = free_port()
    command = ("apache_beam.runners.portability.local_job_service_main", "-p", str(port))
    with serving(wheel_venv, *command, port=port, log=tmp_path / "jobs.log"):
        yield f"localhost:{port}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the sample corpus, a document that is none, and a configuration."""
    shutil.copytree(ROOT / "examples/corpus", tmp_path / "documents")
    (tmp_path / "documents" / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    (tmp_path / "here.yaml").write_text(CONFIG)
    (tmp_path / "there.yaml").write_text(CONFIG.replace("path: table", "path: elsewhere"))
    return tmp_path


def table_bytes(table: Path) -> dict[str, bytes]:
    """Chunks, states and failures of the table's only version, by kind and file."""
    (run_id,) = (path.name for path in table.glob("chunks/2*"))
    found = {f"chunks/{path.name}": path.read_bytes() for path in table.glob("chunks/2*/*.parquet")}
    for kind in ("documents", "failures", "changes"):
        found |= {f"{kind}/{path.name}": path.read_bytes() for path in table.glob(f"runs/{run_id}/{kind}/*.parquet")}
    return found


def test_workers_with_the_sdist_alone_write_the_table_that_one_machine_writes(
    wheel_venv: Venv, pool: list[str], folder: Path
) -> None:
    local = wheel_venv.run("rechunk", "run", "here.yaml", "--workers", "1", cwd=folder)
    there = wheel_venv.run("rechunk", "run", "there.yaml", "--", "--job_endpoint=embed", *pool, cwd=folder)
    assert re.sub(r"run .*|seconds .*", "", there.stdout) == re.sub(r"run .*|seconds .*", "", local.stdout)
    written = table_bytes(folder / "elsewhere")
    assert len([name for name in written if name.startswith("chunks/")]) > 4
    assert len([name for name in written if name.startswith("failures/")]) == 1
    assert written == table_bytes(folder / "table")
    started = (folder / "pool.log").read_text()
    assert "Starting worker with command ['python'" in started


def test_a_run_goes_on_when_whoever_submitted_it_is_gone(
    wheel_venv: Venv, pool: list[str], job_server: str, folder: Path
) -> None:
    options = ["--", f"--job_endpoint={job_server}", *pool]
    submitted = wheel_venv.run("rechunk", "run", "there.yaml", "--no-wait", "--output", "json", *options, cwd=folder)
    run = json.loads(submitted.stdout)
    assert run["runner"] == "PortableRunner"
    assert run["job_id"]
    assert not list((folder / "elsewhere").glob("chunks/_delta_log/*.json"))
    waited = wheel_venv.run("rechunk", "wait", "there.yaml", run["run_id"], "--timeout", "4m", cwd=folder)
    assert re.search(r"^table version +0$", waited.stdout, re.MULTILINE)
    assert waited.stderr.endswith("elsewhere: committed version 0\n")
    assert list((folder / "elsewhere").glob("claims/*")) == []
    assert (folder / "elsewhere/runs" / run["run_id"] / "stats.json").exists()
    wheel_venv.run("rechunk", "run", "here.yaml", "--workers", "1", cwd=folder)
    assert table_bytes(folder / "elsewhere") == table_bytes(folder / "table")

    night = wheel_venv.run("rechunk", "run", "there.yaml", "--no-wait", "--output", "json", *options, cwd=folder)
    assert json.loads(night.stdout)["message"] == "nothing changed"
    assert "nothing changed" in wheel_venv.run("rechunk", "wait", "there.yaml", cwd=folder).stderr


def test_a_job_that_died_is_told(wheel_venv: Venv, job_server: str, folder: Path) -> None:
    wheel_venv.run("rechunk", "run", "here.yaml", "--workers", "1", cwd=folder)
    (folder / "documents" / "new.txt").write_text("Something new.\n")
    lost = ["--runner=PortableRunner", f"--job_endpoint={job_server}", "--environment_type=PROCESS"]
    lost.append('--environment_config={"command": "false"}')
    wheel_venv.run("rechunk", "run", "here.yaml", "--no-wait", "--", *lost, cwd=folder)
    done = wheel_venv.run("rechunk", "wait", "here.yaml", "--timeout", "2m", cwd=folder, fails=True)
    assert done.returncode == 5
    assert "of PortableRunner is FAILED, and did not do the run. Nothing was published by it" in done.stderr
    resumed = wheel_venv.run("rechunk", "resume", "here.yaml", cwd=folder)
    assert re.search(r"^table version +1$", resumed.stdout, re.MULTILINE)
