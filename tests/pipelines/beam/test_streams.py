"""Unbounded input, out of order and late: every document is chunked at once, in its own window, at its own time."""

from __future__ import annotations

import random
from typing import Any

import pytest

from chunkers import chunk
from pipelines.beam.quiet import quiet_beam
from tests.engines.fetching import prism

with quiet_beam():
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
    from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner
    from apache_beam.runners.portability.prism_runner import PrismRunner
    from apache_beam.testing.test_stream import TestStream as Stream
    from apache_beam.testing.util import assert_that, equal_to
    from apache_beam.transforms import trigger, window

    from pipelines.beam.chunk_documents import ChunkDocuments
    from pipelines.beam.chunk_rows import DocumentsToRows

TEXT = "One two. Three four.\n\nFive six. Seven."
COUNT = len(chunk(TEXT, max_size=10))


class Placed(beam.DoFn):
    """An element with its time and its window, in seconds."""

    def process(self, element: Any, time: Any = beam.DoFn.TimestampParam, place: Any = beam.DoFn.WindowParam) -> Any:
        yield element, int(time), (int(place.start), int(place.end))


def streaming(*more: str) -> Any:
    """Options for a streaming pipeline."""
    options = PipelineOptions(list(more))
    options.view_as(StandardOptions).streaming = True
    return options


def check(runner: Any, options: Any) -> None:
    """Documents of four minutes in no order, a third of them behind the watermark, some of them bad."""
    source = random.Random(7)
    times = source.sample(range(240), 60)
    stream = Stream()
    for start in range(0, 60, 15):
        stream = stream.add_elements(
            [
                window.TimestampedValue((f"{time}", b"\xff\x00\x01" * 9 if time % 5 == 0 else TEXT.encode()), time)
                for time in times[start : start + 15]
            ]
        ).advance_watermark_to(60 + 4 * start)
    with beam.Pipeline(runner=runner, options=options) as pipeline:
        documents = (
            pipeline
            | stream.advance_watermark_to_infinity()
            | beam.WindowInto(
                window.FixedWindows(60),
                trigger=trigger.AfterWatermark(late=trigger.AfterCount(1)),
                accumulation_mode=trigger.AccumulationMode.DISCARDING,
                allowed_lateness=240,
            )
        )
        chunks, failures = documents | ChunkDocuments(max_size=10).with_exception_handling()
        rows, row_failures = documents | DocumentsToRows(max_size=10).with_exception_handling()
        good = [(f"{time}", time, minute(time)) for time in times if time % 5]
        bad = [(f"{time}", time, minute(time)) for time in times if not time % 5]
        assert len(good) > 40
        placed = chunks | "Path" >> beam.Keys() | "Placed" >> beam.ParDo(Placed())
        assert_that(placed | "Whole" >> one_window(), equal_to(good), "chunks")
        for label, failed in (("failures", failures), ("row failures", row_failures)):
            named = failed | f"Name {label}" >> beam.Map(lambda row: row.id)
            assert_that(named | f"{label} placed" >> beam.ParDo(Placed()) | label >> one_window(), equal_to(bad), label)
        counted = rows | "Parent" >> beam.Map(lambda row: row.parent_id) | "Row placed" >> beam.ParDo(Placed())
        assert_that(counted | "Rows" >> one_window(), equal_to([each for each in good for _ in range(COUNT)]), "rows")


def minute(time: int) -> tuple[int, int]:
    """The window of a time."""
    start = time // 60 * 60
    return start, start + 60


def one_window() -> Any:
    """`assert_that` compares window by window; here they are part of what is compared."""
    return beam.WindowInto(window.GlobalWindows())


def test_nothing_is_lost_and_windows_and_times_are_kept() -> None:
    assert COUNT == 5
    with quiet_beam():
        check(BundleBasedDirectRunner(), streaming())


@pytest.mark.engines
def test_nothing_is_lost_and_windows_and_times_are_kept_on_prism() -> None:
    with quiet_beam():
        check(PrismRunner(), streaming("--prism_location", str(prism()), "--environment_type", "LOOPBACK"))
