"""The sdist and the wheel: what is in them, and that nothing else is needed."""

from __future__ import annotations

import email
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from pipelines.version import VERSION
from tests.packaging.venvs import ROOT, Venv

pytestmark = pytest.mark.slow

DATA = {
    "chunkers/py.typed",
    "chunkers/measure/encodings/SHA256SUMS",
    *(
        f"chunkers/measure/encodings/{name}.tiktoken"
        for name in ("cl100k_base", "o200k_base", "p50k_base", "r50k_base")
    ),
    "pipelines/py.typed",
}

CONFIG = """\
source: [{path: documents}]
chunking: {default: {strategy: auto, max_size: 500, max_tokens: 120, overlap: 0}}
tokens: {encoding_name: cl100k_base}
output: {path: table, task_bytes: 16KiB}
"""


def modules() -> set[str]:
    """Every Python file of the two packages, relative to the root."""
    return {
        path.relative_to(ROOT).as_posix()
        for package in ("chunkers", "pipelines")
        for path in (ROOT / package).rglob("*.py")
    }


@pytest.fixture
def wheel(distributions: Path) -> Path:
    """The wheel."""
    return distributions / f"rechunk-{VERSION}-py3-none-any.whl"


@pytest.fixture
def sdist(distributions: Path) -> set[str]:
    """The names of the files in the sdist."""
    with tarfile.open(distributions / f"rechunk-{VERSION}.tar.gz") as archive:
        return {member.name.partition("/")[2] for member in archive if member.isfile()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a configuration and some documents, away from the source tree."""
    for number, path in enumerate(sorted((ROOT / "examples/corpus").rglob("*.*"))):
        target = tmp_path / "documents" / f"{number:03d}{path.suffix}"
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(path.read_bytes())
    (tmp_path / "small.yaml").write_text(CONFIG)
    return tmp_path


def table_bytes(folder: Path) -> dict[str, bytes]:
    """The files of chunks of the table's only version, without the name of the run."""
    return {path.name: path.read_bytes() for path in folder.glob("table/chunks/*/*.parquet")}


def test_wheel_holds_the_two_packages_and_their_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.startswith(f"rechunk-{VERSION}.dist-info/")}
    assert names == modules() | DATA


def test_sdist_holds_what_building_needs_and_nothing_of_development(sdist: set[str]) -> None:
    generated = {name for name in sdist if name.startswith("rechunk.egg-info/")} | {"PKG-INFO", "setup.cfg"}
    assert sdist - generated == modules() | DATA | {
        *("CHANGELOG.md", "LICENSE", "MANIFEST.in", "README.md", "constraints.txt", "pyproject.toml", "setup.py")
    }


def test_metadata_names_version_python_licence_and_extras(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        described = email.message_from_bytes(archive.read(f"rechunk-{VERSION}.dist-info/METADATA"))
        scripts = archive.read(f"rechunk-{VERSION}.dist-info/entry_points.txt").decode()
    assert (described["Name"], described["Version"]) == ("rechunk", VERSION)
    assert described["Requires-Python"] == ">=3.11"
    assert described["License-Expression"] or described["License"] == "Apache-2.0"
    assert set(described.get_all("Provides-Extra")) == {"azure", "code", "dev", "fast", "gcp", "gcs", "s3"}
    assert scripts.split() == ["[console_scripts]", "rechunk", "=", "pipelines.__main__:leave"]


@pytest.mark.parametrize("form", ["wheel", "sdist"])
def test_commands_work_where_nothing_else_is_installed(form: str, folder: Path, request: pytest.FixtureRequest) -> None:
    venv: Venv = request.getfixturevalue(f"{form}_venv")
    assert venv.run("rechunk", "--version", cwd=folder).stdout == f"rechunk {VERSION}\n"
    assert "small.yaml is valid." in venv.run("rechunk", "validate", "small.yaml", cwd=folder).stdout
    document = next(path.name for path in sorted(folder.glob("documents/*.md")))
    assert " tokens " in venv.run("rechunk", "preview", f"documents/{document}", cwd=folder).stdout
    said = venv.run("rechunk", "run", "small.yaml", "--workers", "2", cwd=folder).stdout
    assert re.search(r"^table version +0$", said, re.MULTILINE)
    assert len(table_bytes(folder)) > 2
    assert "nothing changed" in venv.run("rechunk", "run", "small.yaml", cwd=folder).stderr
    checked = venv.run("rechunk", "verify", "small.yaml", "--full", cwd=folder).stdout
    assert re.search(r"^problems +0$", checked, re.MULTILINE)
    where = venv.run(
        "python", "-c", "import chunkers, pipelines; print(chunkers.__file__, pipelines.__file__)", cwd=folder
    )
    assert all(str(venv.folder) in path for path in where.stdout.split())
    assert "No broken requirements" in venv.run("pip", "check", cwd=folder).stdout


@pytest.mark.parametrize(
    ("address", "extra"), [("s3://bucket/docs", "s3"), ("gs://bucket/docs", "gcs"), ("az://bucket/docs", "azure")]
)
def test_store_without_its_extra_says_what_to_install(address: str, extra: str, wheel_venv: Venv, folder: Path) -> None:
    (folder / "remote.yaml").write_text(f"source: [{{path: '{address}'}}]\noutput: {{path: table}}\n")
    done = wheel_venv.run("rechunk", "run", "remote.yaml", cwd=folder, fails=True)
    assert done.returncode == 2
    assert f"pip install 'rechunk[{extra}]'" in done.stderr
    (folder / "remote.yaml").write_text(f"source: [{{path: documents}}]\noutput: {{path: '{address}'}}\n")
    done = wheel_venv.run("rechunk", "run", "remote.yaml", cwd=folder, fails=True)
    assert done.returncode == 2
    assert f"pip install 'rechunk[{extra}]'" in done.stderr


def test_code_without_its_extra_says_what_to_install(wheel_venv: Venv, folder: Path) -> None:
    text = CONFIG.replace("strategy: auto, max_size: 500, max_tokens: 120", "strategy: code, max_size: 500")
    (folder / "code.yaml").write_text(text)
    done = wheel_venv.run("rechunk", "validate", "code.yaml", cwd=folder, fails=True)
    assert done.returncode == 2
    assert "pip install 'rechunk[code]'" in done.stderr


def test_dataflow_without_its_extra_says_what_to_install(wheel_venv: Venv, folder: Path) -> None:
    options = ["--runner=DataflowRunner", "--project=p", "--region=r", "--temp_location=gs://bucket/temp"]
    ask = f"from pipelines.beam.dataflow import refuse_unready; refuse_unready('DataflowRunner', {options})"
    done = wheel_venv.run("python", "-c", ask, cwd=folder, fails=True)
    assert "UsageError: DataflowRunner needs Google's libraries, which are missing" in done.stderr
    assert "pip install 'rechunk[gcp]'" in done.stderr


def test_every_extra_at_once_is_consistent_and_pinned(full_venv: Venv, folder: Path) -> None:
    assert "No broken requirements" in full_venv.run("pip", "check", cwd=folder).stdout
    pins = dict(
        line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")
    )
    frozen = full_venv.run("pip", "list", "--format=freeze", cwd=folder).stdout.split()
    installed = {
        re.sub(r"[-_.]+", "-", name).lower(): version for name, _, version in (row.partition("==") for row in frozen)
    }
    for name in ("pip", "setuptools", "rechunk"):
        installed.pop(name)
    assert installed.items() - pins.items() == set()
    assert {"gcsfs", "s3fs", "adlfs", "obstore", "tree-sitter-go", "google-cloud-dataflow-client"} <= set(installed)
