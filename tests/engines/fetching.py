"""The engines themselves, fetched once from the registries of Go, Maven and pip into `.engines/`, which git ignores."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".engines"

_SECONDS = 1200
_DASK = ("dask>=2025.1", "distributed>=2025.1")


class Unavailable(Exception):
    """An engine that cannot be had here, and why."""


def prism() -> Path:
    """The program of Prism, of the version of the installed Beam. Skips the test where it cannot be had."""
    release = version("apache-beam")
    return _or_skip("Prism", f"prism-{release}", _go(release)) / "prism"


def jars(engine: str) -> str:
    """The Java class path of `flink` or `spark`. Skips the test where it cannot be had."""
    pom = Path(__file__).parent / engine / "pom.xml"
    digest = hashlib.sha256(pom.read_bytes()).hexdigest()[:8]
    folder = _or_skip(engine.capitalize(), f"{engine}-{digest}", _maven(pom))
    needs("java")
    return f"{folder}/*"


def dask() -> Path:
    """A folder that Dask can be imported from. Skips the test where it cannot be had."""
    command = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *_DASK)
    return _or_skip("Dask", f"dask-{hashlib.sha256(' '.join(_DASK).encode()).hexdigest()[:8]}", command)


def needs(program: str) -> str:
    """Where a program is. Skips the test where it is not."""
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not on PATH")
    return found


def _go(release: str) -> tuple[str, ...]:
    return ("go", "install", f"github.com/apache/beam/sdks/v2/go/cmd/prism@v{release}")


def _maven(pom: Path) -> tuple[str, ...]:
    return (
        *("mvn", "--quiet", "--batch-mode", "--file", str(pom), "dependency:copy-dependencies"),
        "-DincludeScope=runtime",
    )


def _or_skip(what: str, name: str, command: tuple[str, ...]) -> Path:
    try:
        return _fetched(name, command)
    except Unavailable as error:
        pytest.skip(f"{what} is not here and cannot be fetched: {error}")


@cache
def _failures() -> dict[str, str]:
    """What could not be fetched in this process, so that it is tried once."""
    return {}


def _fetched(name: str, command: Sequence[str]) -> Path:
    """The folder `name` of the cache, filled by `command` if it is not there. It appears whole or not at all."""
    folder = CACHE / name
    if folder.is_dir():
        return folder
    if name in _failures():
        raise Unavailable(_failures()[name])
    new = CACHE / f".new-{uuid.uuid4().hex}"
    new.mkdir(parents=True)
    try:
        _run(command, new)
        new.rename(folder)
    except Unavailable as error:
        _failures()[name] = str(error)
        raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder


def _run(command: Sequence[str], target: Path) -> None:
    if shutil.which(command[0]) is None:
        raise Unavailable(f"{command[0]} is not on PATH")
    into = {"GOBIN": str(target), "MAVEN_OPTS": "-Xmx512m"}
    where = {"go": (), "mvn": (f"-DoutputDirectory={target}",)}.get(command[0], ("--target", str(target)))
    try:
        done = subprocess.run(
            [*command, *where],
            env={**os.environ, **into},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{command[0]} did not end within {_SECONDS} s") from None
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise Unavailable(f"{Path(command[0]).name}: {said[0] if said else f'exit code {done.returncode}'}"[:300])
