"""Several actors on one store, one storage call at a time, in an order that a seed decides. Time is the store's own."""

from __future__ import annotations

import io
import random
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from pipelines.errors import StorageError
from pipelines.storage.base import Entry, Page, Skipped, Store

SECOND = 1_000_000_000


class Killed(BaseException):
    """Ends an actor at a storage call, as a lost process would."""


class SteppedStore(Store):
    """Objects in a dictionary, with a clock that only storage calls move. Every call is a point where others may act."""

    def __init__(self, start: int = 1_800_000_000 * SECOND) -> None:
        self.address = "stepped://table"
        self.objects: dict[str, tuple[bytes, int]] = {}
        self.now = start
        self.step: Callable[[], None] = lambda: None

    def list(self, prefix: str = "", skipped: Skipped | None = None) -> Iterator[Page]:
        self.step()
        page = Page.new()
        for path in sorted(self.objects):
            if path.startswith(prefix):
                page.add(self._entry(path))
        yield page

    def read(self, path: str) -> bytes:
        self.step()
        return self._object(path)[0]

    def open(self, path: str) -> BinaryIO:
        return io.BytesIO(self.read(path))

    def write(self, path: str, data: bytes | memoryview) -> None:
        self.step()
        self.objects[path] = (bytes(data), self.now)

    def create(self, path: str, data: bytes) -> bool:
        self.step()
        if path in self.objects:
            return False
        self.objects[path] = (data, self.now)
        return True

    def link(self, source: str, target: str) -> None:
        self.step()
        data = self._object(source)[0]
        if target in self.objects and self.objects[target][0] != data:
            raise StorageError("already holds other bytes", address=self.child(target))
        self.objects.setdefault(target, (data, self.now))

    def touch(self, path: str) -> None:
        """Nothing to do."""

    def stat(self, path: str) -> Entry | None:
        self.step()
        return self._entry(path) if path in self.objects else None

    def delete(self, path: str) -> None:
        self.step()
        self.objects.pop(path, None)

    def delete_many(self, sizes: Mapping[str, int]) -> int:
        for path in sizes:
            self.delete(path)
        return sum(sizes.values())

    def _object(self, path: str) -> tuple[bytes, int]:
        if path not in self.objects:
            raise FileNotFoundError(path)
        return self.objects[path]

    def _entry(self, path: str) -> Entry:
        data, modified = self.objects[path]
        return Entry(path, len(data), modified, None)


@dataclass
class Actor:
    """One who works on the store. `left` storage calls until it is killed, None: never."""

    name: str
    work: Callable[[], object]
    left: int | None = None
    result: object = None
    error: BaseException | None = None
    done: bool = False
    turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))


def play(store: SteppedStore, actors: list[Actor], chance: random.Random, *, longest: int = 3) -> None:
    """Let the actors act until all are done; between two storage calls up to `longest` seconds pass."""
    here = threading.local()
    back = threading.Semaphore(0)

    def step() -> None:
        actor: Actor | None = getattr(here, "actor", None)
        if actor is None:
            return
        back.release()
        actor.turn.acquire()
        if actor.left is not None:
            actor.left -= 1
            if actor.left < 0:
                raise Killed

    def body(actor: Actor) -> None:
        here.actor = actor
        actor.turn.acquire()
        try:
            actor.result = actor.work()
        except BaseException as error:
            actor.error = error
        actor.done = True
        back.release()

    store.step = step
    threads = [threading.Thread(target=body, args=(actor,), daemon=True) for actor in actors]
    for thread in threads:
        thread.start()
    weights = {actor.name: chance.choice((1, 1, 3, 10)) for actor in actors}  # some are slow
    while waiting := [actor for actor in actors if not actor.done]:
        actor = chance.choices(waiting, [weights[each.name] for each in waiting])[0]
        store.now += chance.randint(0, longest * SECOND)
        actor.turn.release()
        back.acquire()
    for thread in threads:
        thread.join()
    store.step = lambda: None
