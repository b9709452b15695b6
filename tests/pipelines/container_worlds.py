"""Folders of containers that change at random, and a model of what a table of them must hold. No Arrow in the model.

    world = ContainerWorld(tmp_path / "world", seed=7)   # two sources: JSON Lines, CSV, Parquet, JSON arrays, text files
    world.edit()                                         # ["move r3 a/one.jsonl → b/rows.csv", "break b/list.json"]
    config = world.config(tmp_path / "table")
    model = Model()
    model.night(world)                                   # what the table holds after a run over the world as it is
    model.table["r3"].text

An id belongs to the first that makes it, by source, path and position. What a container with an unreadable record does
not show is not gone.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.config.model import Columns, Config, Output, Rule, Source

SENTENCES = (
    "The harbour froze early that year.",
    "Nobody had paid the lamplighter since October, and it showed.",
    "その年、港は早く凍った。",
    "«Est-ce prêt ?» demanda-t-elle.",
    'A line, with a comma; and a "quote".',
    "One\nline and\r\nanother.",
)
PATHS = {
    "a": ("lines.jsonl", "more/lines.ndjson", "packed.jsonl.gz", "rows.csv", "note.txt", "deep/a note.md"),
    "b": ("lines.jsonl", "table.parquet", "rows.csv", "tabs.tsv", "r5"),
}
COLUMNS = Columns(id="key", text="body", title="name", metadata=("lang",), payload={"price": "double", "when": "date"})
BREAKS = ("no-id", "syntax", "payload")
LONG_AGO = 1_500_000_000


@dataclass(frozen=True)
class Item:
    """One record. `broken`: no-id and syntax leave no id, payload leaves an id that fails."""

    id: str
    text: str
    title: str | None = None
    lang: str | None = None
    price: float | None = None
    broken: str = ""

    @property
    def shows_id(self) -> bool:
        return self.broken in ("", "payload")


@dataclass(frozen=True, order=True)
class Claim:
    """A document as one object makes it. Sorts by what decides whose an id is."""

    source: int
    path: str
    position: int
    item: Item = field(compare=False)

    @property
    def failed(self) -> bool:
        return self.item.broken != ""


@dataclass
class ContainerWorld:
    """Objects below `root`, rewritten as they change. An object is a list of items; a text file has just one."""

    root: Path
    seed: int
    objects: dict[tuple[str, str], list[Item]] = field(default_factory=dict)
    columns: Columns = COLUMNS
    max_size: int = 90
    _clock: int = 0
    _ids: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        for name in PATHS:
            (self.root / name).mkdir(parents=True)
        for source, paths in PATHS.items():
            for path in paths:
                if self.random.random() < 0.8:
                    self.put((source, path), self._items(source, path))

    def config(self, table: Path, task_bytes: int = 1024) -> Config:
        return Config(
            name="containers",
            sources=tuple(Source(path=str(self.root / name), columns=self.columns, include=("**",)) for name in PATHS),
            output=Output(path=str(table), task_bytes=task_bytes),
            default=Rule(strategy="recursive", options={"max_size": self.max_size, "overlap": 0}),
        )

    # what there is

    def claims(self) -> Iterator[Claim]:
        """Every document that an object shows, good or failing."""
        for source, name in enumerate(PATHS):
            for (of, path), items in self.objects.items():
                if of == name:
                    for position, item in enumerate(items):
                        if item.shows_id:
                            yield Claim(source, path, -1 if is_file(path) else position, item)

    def unread(self) -> set[tuple[int, str]]:
        """The containers of which some record is not known."""
        names = list(PATHS)
        return {
            (names.index(source), path)
            for (source, path), items in self.objects.items()
            if any(not item.shows_id for item in items)
        }

    def uri(self, claim: Claim) -> str:
        return str(self.root / list(PATHS)[claim.source] / claim.path)

    # edits

    def edit(self, number: int = 4) -> list[str]:
        """Some changes, and what they were."""
        return [self._edit(self.random.choice(EDITS)) for _ in range(self.random.randint(1, number))]

    def heal(self) -> None:
        """Make every record whole again."""
        for place, items in list(self.objects.items()):
            if any(item.broken for item in items):
                self.put(place, [replace(item, broken="") for item in items])

    def _edit(self, kind: str) -> str:
        place = self._some()
        if place is None or kind == "come":
            return self._come()
        items = self.objects[place]
        where = "/".join(place)
        if kind == "vanish":
            self.drop(place)
            return f"vanish {where}"
        if kind == "touch":
            self.put(place, items)
            return f"touch {where}"
        if kind == "rename" and not is_file(place[1]):
            return self._rename(place)
        if is_file(place[1]):
            self.put(place, [replace(items[0], text=self._text())])
            return f"rewrite {where}"
        change = getattr(self, f"_{kind}")
        return f"{kind} {where}: {change(place, list(items))}"

    def _some(self) -> tuple[str, str] | None:
        return self.random.choice(sorted(self.objects)) if self.objects else None

    def _come(self) -> str:
        absent = [
            (source, path) for source, paths in PATHS.items() for path in paths if (source, path) not in self.objects
        ]
        if not absent:
            return "nothing"
        place = self.random.choice(absent)
        self.put(place, self._items(*place))
        return f"come {'/'.join(place)}"

    def _rename(self, place: tuple[str, str]) -> str:
        source, path = place
        target = (source, ("x" + path) if not path.startswith("x") else path[1:])
        if target in self.objects:
            return "nothing"
        items = self.objects[place]
        self.drop(place)
        self.put(target, items)
        return f"rename {'/'.join(place)} → {'/'.join(target)}"

    def _amend(self, place: tuple[str, str], items: list[Item]) -> str:
        return self._change(place, items, text=self._text())

    def _describe(self, place: tuple[str, str], items: list[Item]) -> str:
        values: dict[str, Any] = self.random.choice(
            [{"title": self._text()}, {"lang": self.random.choice(["en", "ja", None])}, {"price": self.random.random()}]
        )
        return self._change(place, items, **values)

    def _empty(self, place: tuple[str, str], items: list[Item]) -> str:
        return self._change(place, items, text=" ")

    def _break(self, place: tuple[str, str], items: list[Item]) -> str:
        kinds = [kind for kind in BREAKS if kind != "syntax" or "json" in place[1]]
        return self._change(place, items, broken=self.random.choice(kinds))

    def _mend(self, place: tuple[str, str], items: list[Item]) -> str:
        self.put(place, [replace(item, broken="") for item in items])
        return "all"

    def _insert(self, place: tuple[str, str], items: list[Item]) -> str:
        item = self._item()
        items.insert(self.random.randint(0, len(items)), item)
        self.put(place, items)
        return item.id

    def _delete(self, place: tuple[str, str], items: list[Item]) -> str:
        gone = [items.pop(self.random.randrange(len(items))).id for _ in range(self.random.randint(1, 3)) if items]
        self.put(place, items)
        return " ".join(gone)

    def _shuffle(self, place: tuple[str, str], items: list[Item]) -> str:
        self.random.shuffle(items)
        self.put(place, items)
        return "all"

    def _clear(self, place: tuple[str, str], items: list[Item]) -> str:
        self.put(place, [])
        return "all"

    def _break_and_delete(self, place: tuple[str, str], items: list[Item]) -> str:
        broken = self._break(place, items)
        return f"{broken}, {self._delete(place, list(self.objects[place]))}"

    def _move(self, place: tuple[str, str], items: list[Item]) -> str:
        """One or more records from here to another container, or to another place in this one."""
        targets = [other for other in sorted(self.objects) if not is_file(other[1])]
        target = self.random.choice(targets)
        moved = [items.pop(self.random.randrange(len(items))) for _ in range(self.random.randint(1, 3)) if items]
        self.put(place, items)
        others = list(self.objects[target])
        for item in moved:
            others.insert(self.random.randint(0, len(others)), item)
        self.put(target, others)
        return f"{' '.join(item.id for item in moved)} to {'/'.join(target)}"

    def _double(self, place: tuple[str, str], items: list[Item]) -> str:
        """A record that makes an id which something else makes already."""
        ids = sorted({claim.item.id for claim in self.claims()})
        if not ids:
            return "nothing"
        item = replace(self._item(), id=self.random.choice(ids))
        items.insert(self.random.randint(0, len(items)), item)
        self.put(place, items)
        return item.id

    def _change(self, place: tuple[str, str], items: list[Item], **values: Any) -> str:
        if not items:
            return "nothing"
        row = self.random.randrange(len(items))
        items[row] = replace(items[row], **values)
        self.put(place, items)
        return f"{items[row].id} {sorted(values)}"

    # bytes

    def put(self, place: tuple[str, str], items: list[Item]) -> None:
        """Write an object; every write has its own second, long past, and is trusted at once."""
        self.objects[place] = items
        file = self.root / place[0] / place[1]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encoded(place[1], items))
        self._clock += 1
        os.utime(file, (LONG_AGO + self._clock,) * 2)

    def drop(self, place: tuple[str, str]) -> None:
        del self.objects[place]
        (self.root / place[0] / place[1]).unlink()

    def _items(self, source: str, path: str) -> list[Item]:
        if is_file(path):
            return [Item(path, self._text())]
        return [self._item() for _ in range(self.random.randint(0, 40))]

    def _item(self) -> Item:
        self._ids += 1
        return Item(
            id=f"r{self.random.randrange(10_000)}x{self._ids}" if self._ids > 12 else f"r{self._ids}",
            text=self._text(),
            title=self.random.choice([None, "Ein Titel", "題"]),
            lang=self.random.choice([None, "en", "de"]),
            price=self.random.choice([None, 1.5, 3.25]),
        )

    def _text(self) -> str:
        return " ".join(self.random.choice(SENTENCES) for _ in range(self.random.randint(1, 6)))


EDITS = (
    *("amend", "insert", "delete", "move", "double", "describe") * 3,
    *("break", "mend", "break_and_delete", "shuffle", "empty") * 2,
    *("come", "vanish", "touch", "rename", "clear"),
)


def is_file(path: str) -> bool:
    """Whether the object is a document itself."""
    return not any(path.removesuffix(".gz").endswith(end) for end in (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet"))


def encoded(path: str, items: list[Item]) -> bytes:
    """An object's bytes."""
    if is_file(path):
        return items[0].text.encode()
    if path.endswith(".parquet"):
        return _parquet(items)
    if path.endswith((".csv", ".tsv")):
        return _delimited(items, "\t" if path.endswith(".tsv") else ",")
    lines = "".join(_line(item) + "\n" for item in items).encode()
    return gzip.compress(lines, mtime=0) if path.endswith(".gz") else lines


def _line(item: Item) -> str:
    if item.broken == "syntax":
        return '{"key": ' + json.dumps(item.id)
    return json.dumps({name: value for name, value in _values(item).items() if value is not None}, ensure_ascii=False)


def _values(item: Item) -> dict[str, Any]:
    return {
        "key": None if item.broken == "no-id" else item.id,
        "body": item.text,
        "name": item.title,
        "lang": item.lang,
        "price": "dear" if item.broken == "payload" else item.price,
        "when": "2026-01-31",
    }


def _delimited(items: list[Item], delimiter: str) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(_values(Item("", "")))
    for item in items:
        writer.writerow("" if value is None else value for value in _values(item).values())
    return out.getvalue().encode()


def _parquet(items: list[Item]) -> bytes:
    rows = [_values(item) for item in items]
    columns = {
        name: pa.array([None if row[name] is None else str(row[name]) for row in rows], pa.string())
        for name in _values(Item("", ""))
    }
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, row_group_size=5)
    return out.getvalue()


@dataclass
class Model:
    """What a table holds, by id: the claim that its rows were made from and how its last reading went."""

    table: dict[str, Claim] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    losers: set[tuple[str, int, str, int]] = field(default_factory=set)

    def night(self, world: ContainerWorld) -> None:
        """A run over the world as it is, with every deletion approved."""
        claims = list(world.claims())
        shown = {(claim.source, claim.path, claim.item.id) for claim in claims}
        unread = world.unread()
        kept = [
            claim
            for id_, claim in self.table.items()
            if (claim.source, claim.path) in unread and (claim.source, claim.path, id_) not in shown
        ]
        old, self.table, self.failed, self.losers = self.table, {}, set(), set()
        for id_ in {claim.item.id for claim in [*claims, *kept]}:
            mine = sorted(claim for claim in claims if claim.item.id == id_)
            first = min([*mine, *(claim for claim in kept if claim.item.id == id_)])
            if first in kept and first not in mine:
                self.table[id_] = first
            elif first.failed:
                self.failed.add(id_)
                if id_ in old and chunked(old[id_]):
                    self.table[id_] = old[id_]
            else:
                self.table[id_] = first
            self.losers |= {(id_, each.source, each.path, each.position) for each in mine if each != first}


def chunked(claim: Claim) -> bool:
    """Whether a document has chunks."""
    return bool(claim.item.text.strip())


def wipe(folder: Path) -> None:
    """Remove a table."""
    shutil.rmtree(folder, ignore_errors=True)
