"""Virtual environments with nothing but rechunk, as users and workers have them.

What rechunk depends on is installed once under `build/` (`make clean` takes it away); rechunk itself is put in anew
whenever the source has changed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOME = ROOT / "build" / "packaging"
SOURCES = ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md", "constraints.txt")
QUIET = ["--quiet", "--disable-pip-version-check", "--no-input"]

OFFLINE = ("Could not find a version", "No matching distribution", "Connection", "ConnectionError", "timed out")
"""What pip says when it cannot reach a package index."""


@dataclass(frozen=True, slots=True)
class Venv:
    """A virtual environment in `folder`."""

    folder: Path

    @property
    def bin(self) -> Path:
        """Where its programs are."""
        return self.folder / "bin"

    def run(self, *command: str, cwd: Path, fails: bool = False, **variables: str) -> subprocess.CompletedProcess[str]:
        """A program of it, away from the source tree. It must end with 0, or not with 0 where it `fails`."""
        done = subprocess.run(
            [str(self.bin / command[0]), *command[1:]],
            cwd=cwd,
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert bool(done.returncode) == fails, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def environment(self, **variables: str) -> dict[str, str]:
        """The environment of its programs: nothing of this process's Python is in it."""
        path = f"{self.bin}:{os.environ['PATH']}"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return {**inherited, "PATH": path, "COLUMNS": "120", "NO_COLOR": "1", **variables}


def built() -> Path:
    """A folder with the sdist and the wheel of the source as it is now, made once for it."""
    folder = HOME / f"dist-{source_digest()}"
    with locked("dist"):
        if not (folder / "done").exists():
            for old in HOME.glob("dist-*"):
                shutil.rmtree(old)
            _checked([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], cwd=HOME)
            (folder / "done").touch()
    return folder


def venv_with(form: str, *, extras: Sequence[str] = ()) -> Venv:
    """An environment that holds rechunk as `form` (sdist or wheel), with extras, and what that needs; nothing else."""
    (package,) = built().glob({"sdist": "*.tar.gz", "wheel": "*.whl"}[form])
    wanted = f"{package}[{','.join(extras)}]" if extras else str(package)
    name = "-".join([form, *extras, _digest([ROOT / "setup.py", ROOT / "constraints.txt"])])
    folder = HOME / name
    stamp = folder / "installed"
    with locked(name):
        if not folder.exists():
            for old in HOME.glob(f"{name.rpartition('-')[0]}-{'?' * 16}"):
                shutil.rmtree(old)
            _checked([sys.executable, "-m", "venv", str(folder)], cwd=HOME)
        if not stamp.exists() or stamp.read_text() != source_digest():
            again = ["--no-deps", "--force-reinstall"] if stamp.exists() else []
            python, constraints = str(folder / "bin" / "python"), str(ROOT / "constraints.txt")
            _checked([python, "-m", "pip", "install", *QUIET, *again, "-c", constraints, wanted], cwd=HOME)
            stamp.write_text(source_digest())
    return Venv(folder)


@lru_cache(maxsize=1)
def source_digest() -> str:
    """Of everything that can be in a distribution, as it was when it was first asked for."""
    files = [path for package in ("chunkers", "pipelines") for path in sorted((ROOT / package).rglob("*"))]
    return _digest([*(ROOT / name for name in SOURCES), *files])


def _digest(files: Sequence[Path]) -> str:
    found = hashlib.sha256()
    for path in files:
        if path.is_file() and path.suffix != ".pyc":
            found.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return found.hexdigest()[:16]


@contextmanager
def locked(name: str) -> Iterator[None]:
    """One process at a time."""
    HOME.mkdir(parents=True, exist_ok=True)
    with open(HOME / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _checked(command: list[str], *, cwd: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode and any(sign in said for sign in OFFLINE):
        pytest.skip(f"no package index within reach: {said[-200:]}")
    assert not done.returncode, f"{command}\n{said[-3000:]}"
