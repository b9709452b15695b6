"""Processes of our own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_file_systems_of_beam_are_not_imported_where_that_is_switched_off() -> None:
    program = (
        "import pipelines.processes; pipelines.processes.import_no_clouds(); import apache_beam.io.filesystem as beam; "
        "import apache_beam.io.filesystems; print(*(each.__name__ for each in beam.FileSystem.__subclasses__()))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["LocalFileSystem"]


def test_arrow_does_without_pandas_until_it_is_asked_for_it() -> None:
    pytest.importorskip("pandas")
    program = (
        "import sys, pipelines.processes; pipelines.processes.leave_pandas_out(); import pyarrow as pa; pa.array([1]); "
        "before = 'pandas' in sys.modules; frame = pa.table({'a': [1, None]}).to_pandas(); "
        "print(before, len(frame), pa.array(frame['a']).null_count)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "2", "1"]
