"""A pipeline for DaskRunner, which runs only the last of several branches: `python -m … FOLDER`, a file an element."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.dask.dask_runner import DaskRunner

from pipelines.beam.chunk_documents import ChunkDocuments
from pipelines.beam.chunk_rows import DocumentsToRows

DOCUMENTS = [("a.txt", "One. Two."), ("b.bin", bytes(range(256))), ("c.md", "# T\n\nx")]


def main() -> None:
    """Results and failures of both steps, together."""
    folder = Path(sys.argv[1])
    with beam.Pipeline(runner=DaskRunner(), options=PipelineOptions([])) as pipeline:
        documents = pipeline | beam.Create(DOCUMENTS)
        chunks, failures = documents | ChunkDocuments(max_size=5).with_exception_handling()
        rows, bad_rows = documents | DocumentsToRows(max_size=5).with_exception_handling()
        said = (
            chunks | "Chunks" >> beam.Map(lambda keyed: f"{keyed[0]}: {len(keyed[1])} chunks"),
            failures | "Failures" >> beam.Map(lambda row: f"{row.id}: {row.error}"),
            rows | "Rows" >> beam.Map(lambda row: f"{row.id}: row"),
            bad_rows | "Bad rows" >> beam.Map(lambda row: f"{row.id}: no rows, {row.error}"),
        )
        _ = said | beam.Flatten() | beam.Map(lambda line: (folder / uuid.uuid4().hex).write_text(line))


if __name__ == "__main__":
    main()
