"""An environment with everything for Google Cloud, and what stands for the cloud itself."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.conftest import distributions, full_venv
from tests.packaging.venvs import Venv
from tests.pipelines.run.corpus import text
from tests.servers.dataflow import DataflowServer
from tests.servers.gcs import GcsServer
from tests.servers.gcs_objects import Conditions

__all__ = ["distributions", "full_venv"]

DOCUMENTS = 12


@dataclass(frozen=True, slots=True)
class Cloud:
    """Buckets `corpus`, `tables` and `staging`, Dataflow, and a folder of somebody who uses them."""

    storage: GcsServer
    dataflow: DataflowServer
    venv: Venv
    folder: Path

    def rechunk(self, *command: str, fails: bool = False) -> subprocess.CompletedProcess[str]:
        """A command in the environment that has `[gcp]`."""
        return self.program("rechunk", *command, fails=fails)

    def program(self, *command: str, fails: bool = False) -> subprocess.CompletedProcess[str]:
        """A program of that environment. It finds the buckets, and no credentials."""
        variables = {"STORAGE_EMULATOR_HOST": self.storage.url, "NO_GCE_CHECK": "true"}
        variables["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
        return self.venv.run(*command, cwd=self.folder, fails=fails, **variables)

    @property
    def service(self) -> list[str]:
        """The options of Beam with which Dataflow is found."""
        return [f"--dataflow_endpoint={self.dataflow.url}", "--no_auth"]

    def configuration(self, **beam: object) -> str:
        """A configuration of the bucket's documents; `beam` are its options of Beam, none for this machine."""
        written: dict[str, Any] = {
            "source": [{"path": "gs://corpus/documents"}],
            "chunking": {"default": {"strategy": "recursive", "max_size": 300, "overlap": 0}},
            "output": {"path": "gs://tables/documents", "task_bytes": 2048},
            "storage": {"gs": {"token": "anon", "endpoint_url": self.storage.url}},
        }
        if beam:
            usual = {"project": "some-project", "region": "europe-west1", "temp_location": "gs://staging/temp"}
            written["beam"] = {"runner": "DataflowRunner", **usual, **beam}
        return json.dumps(written)

    def write(self, name: str, content: str) -> None:
        """A document of the corpus."""
        self.storage.buckets.put("corpus", f"documents/{name}", content.encode(), Conditions())

    def staged(self, name: str) -> bytes:
        """The one object of that name that Beam has staged."""
        objects = self.storage.buckets.objects("staging")
        (found,) = (stored for path, stored in objects.items() if path.endswith(f"/{name}"))
        return found.data


@pytest.fixture
def cloud(full_venv: Venv, tmp_path: Path) -> Iterator[Cloud]:
    """A cloud with a corpus that was never chunked."""
    with GcsServer() as storage, DataflowServer() as dataflow:
        for bucket in ("corpus", "tables", "staging"):
            storage.buckets.make(bucket)
        cloud = Cloud(storage, dataflow, full_venv, tmp_path)
        for number in range(DOCUMENTS):
            cloud.write(f"{number:03d}.txt", text(3, f"of {number}"))
        yield cloud
