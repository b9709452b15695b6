"""A vector index in one SQLite file, and an embedding that needs no model: what embed_changes.py writes with Beam.

In earnest, put one of Beam's embeddings and vector databases here. What stays is the second half, which Beam has not:
deleting what is stale, and knowing which versions of the table the index holds.
"""

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.metrics import Metrics
from apache_beam.ml.inference.base import ModelHandler, RunInference
from apache_beam.ml.rag.embeddings.base import create_text_adapter
from apache_beam.ml.rag.ingestion.base import VectorDatabaseWriteConfig
from apache_beam.ml.rag.types import Chunk
from apache_beam.ml.transforms.base import EmbeddingsManager, _TextEmbeddingHandler

DIMENSIONS = 256
BATCH = 500

NOTHING = -1
"""The version of an empty index."""


def embed(text: str) -> list[float]:
    """Hashed words (of Han and Kana, single characters), each with a sign: a unit vector, the same everywhere."""
    vector = np.zeros(DIMENSIONS)
    for word in re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W\u3040-\u30ff\u4e00-\u9fff]+", text.casefold()):
        number = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
        vector[number % DIMENSIONS] += 1 if number >> 63 else -1
    length = float(np.linalg.norm(vector))
    return [float(value) for value in (vector / length if length else vector)]


class HashedWords(EmbeddingsManager):
    """`embed` as one of Beam's embeddings, for `MLTransform`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(type_adapter=create_text_adapter(), **options)

    def get_model_handler(self) -> ModelHandler:
        """The model."""
        return _HashedWordsModel()

    def get_ptransform_for_processing(self, **_: Any) -> beam.PTransform:
        """Chunks to chunks with an embedding."""
        return RunInference(model_handler=_TextEmbeddingHandler(self)).with_output_types(Chunk)


class _HashedWordsModel(ModelHandler):
    def load_model(self) -> Any:
        return embed

    def run_inference(self, batch: Sequence[str], model: Any, inference_args: Any = None) -> Iterable[list[float]]:
        return [model(text) for text in batch]


class VectorIndex:
    """The file. It is at one version of the table, or between several while changes are being written."""

    def __init__(self, path: str) -> None:
        self.path = path
        with self._open() as database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS vectors (id TEXT PRIMARY KEY, text TEXT, metadata TEXT, embedding BLOB)"
            )
            if not database.execute("SELECT * FROM sqlite_master WHERE name = 'versions'").fetchall():
                database.execute("CREATE TABLE versions (version INTEGER PRIMARY KEY)")
                database.execute("INSERT INTO versions VALUES (?)", (NOTHING,))

    def versions(self) -> list[int]:
        """Every version that a vector here may be of, or missing because of."""
        with self._open() as database:
            return [version for (version,) in database.execute("SELECT version FROM versions ORDER BY 1")]

    def begin(self, version: int) -> None:
        """From now on vectors of this version are written."""
        with self._open() as database:
            database.execute("INSERT OR IGNORE INTO versions VALUES (?)", (version,))

    def finish(self, version: int) -> None:
        """Every vector is of this version."""
        with self._open() as database:
            database.execute("DELETE FROM versions WHERE version <> ?", (version,))

    def upsert(self, chunks: Iterable[Chunk]) -> None:
        """Write chunks with their embeddings, in one transaction."""
        rows = [
            (each.id, each.content.text, json.dumps(each.metadata, default=str), _bytes(each.dense_embedding))
            for each in chunks
        ]
        with self._open() as database:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)

    def delete(self, ids: Iterable[str]) -> None:
        """Delete chunks, in one transaction; what is not there is no error."""
        with self._open() as database:
            database.executemany("DELETE FROM vectors WHERE id = ?", [(id_,) for id_ in ids])

    def rows(self) -> Iterator[tuple[str, str, str, bytes]]:
        """Everything, by id."""
        with self._open() as database:
            yield from database.execute("SELECT * FROM vectors ORDER BY id")

    def nearest(self, text: str, count: int) -> list[tuple[float, str, str]]:
        """The most similar chunks: (similarity, id, text)."""
        wanted = np.float32(embed(text))
        found = [
            (float(wanted @ np.frombuffer(vector, np.float32)), id_, shown) for id_, shown, _, vector in self.rows()
        ]
        return sorted(found, reverse=True)[:count]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=60)) as database, database:
            yield database


def _bytes(vector: list[float]) -> bytes:
    return np.float32(vector).tobytes()


class SqliteVectors(VectorDatabaseWriteConfig):
    """Where `VectorDatabaseWriteTransform` writes."""

    def __init__(self, path: str) -> None:
        self.path = path

    def create_write_transform(self) -> beam.PTransform:
        """Chunks with embeddings into the file."""
        return beam.ParDo(_InBatches(self.path, "upsert"))


class DeleteVectors(beam.PTransform):
    """Ids to be deleted from the file: the half that Beam's vector databases leave to you."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def expand(self, ids: Any) -> Any:
        """The step."""
        return ids | beam.ParDo(_InBatches(self.path, "delete"))


class _InBatches(beam.DoFn):
    """Gives elements to a method of the index, many at a time, and counts them under its name.

    A bundle that is run again does no harm.
    """

    def __init__(self, path: str, method: str) -> None:
        self._path, self._method = path, method
        self._counter = Metrics.counter("index", method)

    def start_bundle(self) -> None:
        self._batch: list[Any] = []

    def process(self, element: Any) -> None:
        self._batch.append(element)
        if len(self._batch) >= BATCH:
            self.finish_bundle()

    def finish_bundle(self) -> None:
        if self._batch:
            getattr(VectorIndex(self._path), self._method)(self._batch)
            self._counter.inc(len(self._batch))
            self._batch = []
