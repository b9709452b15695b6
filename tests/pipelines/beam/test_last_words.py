"""What is made of the long text in which an engine says that a job failed."""

from __future__ import annotations

import pytest

from pipelines.beam.errors import engine_failed, last_words
from pipelines.errors import EngineFailed, RechunkError, StorageError

PYTHON = """\
java.lang.RuntimeException: Error received from SDK harness for instruction 5: Traceback (most recent call last):
  File "apache_beam/runners/common.py", line 1495, in apache_beam.runners.common.DoFnRunner.process
  File "/opt/lib/python3.11/site-packages/{module}", line 116, in process
    result = chunk_shard(self._job, self._plan, self._router, element)
{raised} [while running 'Chunk shard-ptransform-45']

\tat org.apache.beam.runners.fnexecution.control.FnApiControlClient.response(FnApiControlClient.java:200)
Caused by: java.lang.RuntimeException: it was so
"""


def test_the_job_s_own_errors_come_back_as_what_they_are() -> None:
    said = PYTHON.format(module="pipelines/beam/run_graph.py", raised="pipelines.errors.StorageError: s3://b: is gone")
    error = engine_failed("FlinkRunner did not finish the run", said)
    assert type(error) is StorageError
    assert str(error) == "s3://b: is gone"
    assert error.exit_code == 5


def test_an_exception_of_our_code_is_a_bug() -> None:
    said = PYTHON.format(module="pipelines/work/rows.py", raised="KeyError: 'id'")
    error = engine_failed("FlinkRunner did not finish the run", said)
    assert not isinstance(error, RechunkError)
    assert str(error) == "FlinkRunner did not finish the run: KeyError: 'id'"


def test_a_worker_without_the_package_is_told_to_be_one() -> None:
    said = PYTHON.format(module="dill/_dill.py", raised="ModuleNotFoundError: No module named 'pipelines'")
    error = engine_failed("FlinkRunner did not finish the run", said)
    assert type(error) is EngineFailed
    assert str(error) == (
        "FlinkRunner did not finish the run: ModuleNotFoundError: No module named 'pipelines'. Workers need this "
        "version of rechunk, and every module that the configuration names. Nothing was published by it; "
        "`rechunk resume` goes on with its plan"
    )
    assert error.exit_code == 5


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("", "it says nothing"),
        ("\n  one.\ntwo", "one"),
        ("a.b.JobException: x\n\tat a.b(C.java:3)\nCaused by: a.NoSlots: none left\n\tat x", "a.NoSlots: none left"),
        (
            "failed\nCaused by: a.ConnectException: a.ConnectException: refused: host:1\nCaused by: b.Exception: refused",
            "a.ConnectException: refused: host:1",
        ),
        (
            "Traceback\n  File\nOSError: first\n\nduring\n\nValueError: second [while running 'X']\n",
            "ValueError: second",
        ),
        ("w" * 600, "w" * 499 + "…"),
    ],
)
def test_one_line_of_many(said: str, words: str) -> None:
    assert last_words(said) == words
