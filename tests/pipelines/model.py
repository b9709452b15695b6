"""A world in memory, nights over it, and what they must do: written the naive way, one document at a time.

The model runs plan → (imitated chunking) → guard → reconcile on dictionaries, and judges the result by what is true in
the world, not by what planning said.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from pipelines.config.model import Guard
from pipelines.guard import Verdict, judge
from pipelines.planning import Plan, PlanSource, Task, plan
from pipelines.reconcile import Changes, net, reconcile, settle, states_changed
from tests.pipelines.tables import DAY, listing, states

LIMITS = Guard(documents=3, percent=30.0)
FOLDERS = ("a", "b", "b/in")
NAMES = tuple(f"{folder}/{stem}" for folder in FOLDERS for stem in ("1", "2", "é", "日 #[x]%", "sub/1"))
WORDS = ("red", "green", "blue", "", "red")


@dataclass(frozen=True)
class Object:
    """One object: its chunks' texts, a validator that every write changes, and how reading it fails."""

    chunks: tuple[str, ...]
    validator: int
    fails: str | None = None
    fresh: bool = False


@dataclass(frozen=True)
class Source:
    """A configured source: every object below `root`, but those that `without` is a part of the path of."""

    root: str
    prefix: str = ""
    without: str | None = None
    reachable: bool = True

    def selects(self, path: str) -> bool:
        return self.without is None or self.without not in path

    def ids(self, objects: Mapping[str, Object]) -> dict[str, str]:
        """Ids that this source makes, and the addresses of their objects."""
        start = self.root + "/" if self.root else ""
        paths = [uri[len(start) :] for uri in objects if uri.startswith(start)]
        return {self.prefix + path: start + path for path in paths if self.selects(path)}


SOURCE_SETS: tuple[tuple[Source, ...], ...] = (
    (Source("a"), Source("b", "b/")),
    (Source("a"), Source("b", "b/")),
    (Source("a"), Source("b", "b/"), Source("b/in", "in/")),
    (Source("a"), Source("b")),
    (Source("b"), Source("a")),
    (Source("a"),),
    (Source("a", "new/"), Source("b", "b/")),
    (Source(""),),
    (Source("", "all/"), Source("a")),
    (Source("b", without="sub"), Source("b", "second/")),
)


@dataclass
class Night:
    """What one night did, for the checks."""

    plan: Plan
    read: set[str]
    verdict: Verdict
    withheld: frozenset[str]
    changes: Changes
    before: dict[str, dict[str, Any]]
    after: dict[str, dict[str, Any]]


@dataclass
class Model:
    """Objects, configuration and the table's states. `edit` changes the world, `night` runs over it and checks."""

    seed: int
    task_bytes: int = 300
    objects: dict[str, Object] = field(default_factory=dict)
    sources: tuple[Source, ...] = SOURCE_SETS[0]
    rule: int = 0
    shards: tuple[Task, ...] = ()
    table: dict[str, dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.writes = 0

    # The world

    def edit(self) -> None:
        kind = self.random.choice(
            ["add"] * 6
            + ["grow", "shrink", "shuffle", "amend", "remove", "rename", "touch"] * 3
            + [
                "empty",
                "fail",
                "fail",
                "heal",
                "heal",
                "fresh",
                "rule",
                "sources",
                "narrow",
                "widen",
                "outage",
                "recover",
            ]
            + ["wipe"]
        )
        getattr(self, f"_{kind}")()

    def _write(self, uri: str, chunks: tuple[str, ...], **values: Any) -> None:
        self.writes += 1
        self.objects[uri] = Object(chunks, self.writes, **values)

    def _pick(self) -> str | None:
        return self.random.choice(sorted(self.objects)) if self.objects else None

    def _text(self) -> str:
        return f"{self.random.choice(WORDS)} {self.random.randint(1, 6)}"

    def _change(self, change: Any) -> None:
        uri = self._pick()
        if uri is not None:
            self._write(uri, tuple(change(list(self.objects[uri].chunks))))

    def _add(self) -> None:
        chunks = tuple(self._text() for _ in range(self.random.randint(0, 5)))
        self._write(self.random.choice(NAMES), chunks)

    def _grow(self) -> None:
        self._change(lambda chunks: [*chunks, self._text()] if self.random.random() < 0.5 else [self._text(), *chunks])

    def _shrink(self) -> None:
        self._change(lambda chunks: chunks[: len(chunks) // 2])

    def _shuffle(self) -> None:
        self._change(lambda chunks: self.random.sample(chunks, len(chunks)))

    def _amend(self) -> None:
        self._change(lambda chunks: [self._text(), *chunks[1:]])

    def _remove(self) -> None:
        uri = self._pick()
        if uri is not None:
            del self.objects[uri]

    def _rename(self) -> None:
        uri = self._pick()
        if uri is not None:
            self.objects[self.random.choice(NAMES)] = self.objects.pop(uri)

    def _touch(self) -> None:
        self._change(lambda chunks: chunks)

    def _empty(self) -> None:
        self._change(lambda chunks: [])

    def _fail(self) -> None:
        uri = self._pick()
        if uri is not None:
            self._write(uri, self.objects[uri].chunks, fails=self.random.choice(["binary", "read"]))

    def _heal(self) -> None:
        for uri, found in self.objects.items():
            if found.fails == "read":  # an outage ends without a write
                self.objects[uri] = replace(found, fails=None)
            elif found.fails:
                self._write(uri, found.chunks)

    def _fresh(self) -> None:
        uri = self._pick()
        if uri is not None:
            self._write(uri, (*self.objects[uri].chunks, self._text()), fresh=True)

    def _rule(self) -> None:
        self.rule = self.random.randint(0, 2)

    def _sources(self) -> None:
        self.sources = self.random.choice(SOURCE_SETS)

    def _replace_source(self, **values: Any) -> None:
        index = self.random.randrange(len(self.sources))
        changed = replace(self.sources[index], **values)
        self.sources = (*self.sources[:index], changed, *self.sources[index + 1 :])

    def _narrow(self) -> None:
        self._replace_source(without=self.random.choice(["1", "sub", "é"]))

    def _widen(self) -> None:
        self._replace_source(without=None)

    def _outage(self) -> None:
        self._replace_source(reachable=False)

    def _recover(self) -> None:
        self.sources = tuple(replace(source, reachable=True) for source in self.sources)

    def _wipe(self) -> None:
        root = self.random.choice(self.sources).root
        self.objects = {uri: found for uri, found in self.objects.items() if not uri.startswith(root + "/")}

    # What is true

    def rule_of(self, id_: str) -> int:
        """Documents named `sub` have a rule of their own; `self.rule` says which version of it."""
        return 0 if "sub" in id_ else 1

    def fingerprint(self, source: Source, rule: int) -> str:
        return f"{source.prefix}|{(self.rule, 0)[rule]}"

    def wanted(self) -> dict[str, tuple[Source, str]]:
        """Every id that the configured sources make, reachable or not; the first source keeps it."""
        ids: dict[str, tuple[Source, str]] = {}
        for source in self.sources:
            for id_, uri in source.ids(self.objects).items():
                ids.setdefault(id_, (source, uri))
        return ids

    def chunk(self, source: Source, id_: str, uri: str) -> list[tuple[str, str]]:
        """(content, row) of the chunks a document has under the rule of now. Version 2 of the rule drops red ones."""
        rule = (self.rule, 0)[self.rule_of(id_)]
        texts = [text for text in self.objects[uri].chunks if not (rule == 2 and text.startswith("red"))]
        return [(f"{text}!" if rule == 1 else text, f"{uri} {index}") for index, text in enumerate(texts)]

    def from_scratch(self) -> dict[str, tuple[str, str]]:
        """The rows of a table made today from nothing."""
        rows = {}
        for id_, (source, uri) in self.wanted().items():
            if self.objects[uri].fails is None:
                rows |= {f"{id_}#{n}": row for n, row in enumerate(self._digests(self.chunk(source, id_, uri)))}
        return rows

    def _digests(self, chunks: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return [(_sha(content), _sha(row)) for content, row in chunks]

    # A night

    def night(self, *, prune: bool = False, full: bool = False, approved: int | None = None) -> Night:
        before = dict(self.table or {})
        made = self._plan(prune=prune, full=full)
        by_task = [self._run_task(made, task, before) for task in made.tasks]
        untouched = {
            id_: state for index in made.untouched for id_, state in before.items() if _owns(self.shards[index], id_)
        }
        new = untouched | {id_: state for task in by_task for id_, state in task.items()}
        old_table, new_table, vanished = _table(before), _table(new), made.vanishing()
        kept = _unreplaced(before, new, vanished)
        vanishing = _would_vanish(before, new, vanished, kept)
        verdict = judge(
            vanishing=Counter(vanishing.values()),
            before=_chunked_by_source(before.values()),
            after=_chunked_by_source(settle(old_table, new_table, kept).to_pylist()),
            limits=LIMITS,
            approved=approved,
        )
        withheld = frozenset(id_ for id_, (source, _) in vanishing.items() if source in verdict.withheld_sources)
        final_table = settle(old_table, new_table, kept | withheld)
        after = {row["id"]: row for row in final_table.to_pylist()}
        changes = reconcile(old_table, final_table, vanished)
        self._check_regions(made, changes, before, after, vanished)
        self._commit(made, after)
        reads = [row["id"] for row in made.documents.to_pylist() if row["action"] == "read"]
        return Night(
            plan=made,
            read=set(reads),
            verdict=verdict,
            withheld=withheld,
            changes=changes,
            before=before,
            after=after,
        )

    def _plan(self, *, prune: bool, full: bool) -> Plan:
        rows = []
        for index, source in enumerate(self.sources):
            found = sorted(source.ids(self.objects).items())
            if not source.reachable:
                found = found[: self.random.randint(0, len(found))]  # it broke off somewhere
            for id_, uri in found:
                object_ = self.objects[uri]
                rows.append(
                    {
                        "source": index,
                        "path": id_[len(source.prefix) :],
                        "uri": uri,
                        "size": 40 * len(object_.chunks) + 10,
                        "modified": DAY,
                        "validator": None if object_.fresh else str(object_.validator),
                    }
                )
        self.random.shuffle(rows)
        return plan(
            listing=listing(*rows),
            sources=[
                PlanSource(
                    path=source.root,
                    id_prefix=source.prefix,
                    completed=source.reachable,
                    fingerprints=(self.fingerprint(source, 0), self.fingerprint(source, 1)),
                    selects=source.selects,
                )
                for source in self.sources
            ],
            route=lambda ids: [self.rule_of(id_) for id_ in ids],
            states=None if self.table is None else _table(self.table),
            shards=self.shards,
            task_bytes=self.task_bytes,
            full=full,
            prune=prune,
        )

    def _run_task(self, made: Plan, task: Task, before: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """The states a task writes: rows of kept documents may only come from the task's old shards."""
        result = {}
        for row in made.task_documents(task).to_pylist():
            id_ = row["id"]
            if row["action"] == "keep":
                assert any(_owns(self.shards[index], id_) for index in task.old_shards)
                result[id_] = before[id_]
            elif row["action"] == "read":
                result[id_] = self._read(row, before.get(id_))
        return result

    def _read(self, row: dict[str, Any], was: dict[str, Any] | None) -> dict[str, Any]:
        source, object_ = self.sources[row["source"]], self.objects[row["uri"]]
        state = {name: row[name] for name in ("id", "uri", "path", "size", "modified", "validator", "fingerprint")}
        state |= {"source": source.root, "hash": repr(object_.chunks), "strategy": "model", "error": None}
        if object_.fails is not None:
            kept = (was or {}).get("chunk_hashes") or b""
            streak = (was["fail_streak"] if was else 0) + 1
            state |= {"status": "failed", "error": object_.fails, "fail_streak": streak}
            return state | {"chunk_count": len(kept) // 64, "chunk_hashes": kept}
        digests = self._digests(self.chunk(source, row["id"], row["uri"]))
        state |= {"status": "chunked" if digests else "empty", "fail_streak": 0, "chunk_count": len(digests)}
        return state | {"chunk_hashes": b"".join(bytes.fromhex(content + rest) for content, rest in digests)}

    def _check_regions(
        self,
        made: Plan,
        whole: Changes,
        before: Mapping[str, dict[str, Any]],
        after: Mapping[str, dict[str, Any]],
        vanished: Mapping[str, str],
    ) -> None:
        """Region by region the changes are the same as all at once, and outside the regions there are none."""
        tables = []
        for region in made.regions:
            old = {id_: state for id_, state in before.items() if _owns(region, id_)}
            new = {id_: state for id_, state in after.items() if _owns(region, id_)}
            tables.append(reconcile(_table(old), _table(new), vanished).table)
        merged = pa.concat_tables([whole.table.slice(0, 0), *tables])
        assert merged.sort_by([("parent_id", "ascending"), ("chunk_index", "ascending")]).to_pylist() == (
            whole.table.to_pylist()
        )

    def _commit(self, made: Plan, after: dict[str, dict[str, Any]]) -> None:
        self.table = after
        self.shards = tuple(made.tasks[index] if kind == "task" else self.shards[index] for kind, index in made.layout)


def rows_of(table: Mapping[str, dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """Chunk ids to (content hash, row hash)."""
    rows = {}
    for id_, state in table.items():
        hashes = state["chunk_hashes"]
        for index, start in enumerate(range(0, len(hashes), 64)):
            rows[f"{id_}#{index}"] = (hashes[start : start + 32].hex(), hashes[start + 32 : start + 64].hex())
    return rows


def check_changes(night: Night) -> None:
    """The law of changes, and that the net of one night is the same."""
    old, new = rows_of(night.before), rows_of(night.after)
    replayed = dict(old)
    for row in night.changes.table.to_pylist():
        if row["change"] == "deleted":
            assert replayed.pop(row["id"])[0] == row["content_hash"]
        else:
            assert old.get(row["id"]) != new[row["id"]]
            assert new[row["id"]][0] == row["content_hash"]
            replayed[row["id"]] = new[row["id"]]
    assert replayed == new
    deletions = sorted(set(old) - set(new))
    found = net(_table(night.before), _table(night.after))
    assert sorted(found.deletions["id"].to_pylist()) == deletions
    assert sorted(found.upserts["id"].to_pylist()) == sorted(id_ for id_ in new if old.get(id_) != new[id_])


def check_deletions(model: Model, night: Night, *, prune: bool) -> None:
    """No document loses all its rows while the world gives no cause for it."""
    wanted = model.wanted()
    for id_, was in night.before.items():
        left = night.after.get(id_)
        if not was["chunk_hashes"] or (left is not None and left["chunk_hashes"]):
            continue
        owners = [s for s in model.sources if s.root == was["source"] and s.prefix + was["path"] == id_]
        selecting = [s for s in owners if s.selects(was["path"])]
        if id_ in wanted and left is not None:
            source, uri = wanted[id_]
            assert model.objects[uri].fails is None, f"{id_} failed and lost its rows"
            assert model.chunk(source, id_, uri) == [], f"{id_} is not empty and lost its rows"
            continue
        assert left is None
        assert id_ not in night.withheld
        assert all(source.reachable for source in selecting), f"{id_} was deleted though its source is away"
        if was["uri"] not in model.objects:
            assert selecting or not owners or prune, f"{id_} is out of scope"
            continue
        elsewhere = [other for other in night.after.values() if other["uri"] == was["uri"] and other["id"] != id_]
        if elsewhere:
            assert any(other["status"] != "failed" or other["chunk_hashes"] for other in elsewhere)
            assert not owners or prune
        else:
            assert prune, f"{id_} is still there and was deleted"


def check_reads(night: Night, model: Model) -> None:
    """A document whose object, source and rule are as they were when it was last read is not read again."""
    wanted = model.wanted()
    for id_ in night.read & set(night.before):
        was, (source, uri) = night.before[id_], wanted.get(id_, (None, ""))
        if source is None:
            continue
        same = (
            was["uri"] == uri
            and was["source"] == source.root
            and was["validator"] == str(model.objects[uri].validator)
            and not model.objects[uri].fresh
            and was["fingerprint"] == model.fingerprint(source, model.rule_of(id_))
        )
        assert not same or was["error"] == "read", f"{id_} was read for nothing"


def settled(night: Night) -> bool:
    """Whether a night found everything as the last one left it."""
    return night.changes.table.num_rows == 0 and states_changed(_table(night.before), _table(night.after)) == 0


def _owns(shard: Any, id_: str) -> bool:
    return bool(shard.low <= id_ and (shard.high is None or id_ < shard.high))


def _table(rows: Mapping[str, dict[str, Any]]) -> pa.Table:
    return states(*rows.values())


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _chunked_by_source(states: Iterable[dict[str, Any]]) -> Counter[str]:
    return Counter(state["source"] for state in states if state["chunk_count"])


def _would_vanish(
    before: Mapping[str, dict[str, Any]],
    new: Mapping[str, dict[str, Any]],
    vanished: Mapping[str, str],
    kept: frozenset[str],
) -> dict[str, tuple[str, str]]:
    """Source and reason of the documents that had chunks and would have none."""
    return {
        id_: (state["source"], "emptied" if id_ in new else vanished.get(id_, "removed"))
        for id_, state in before.items()
        if id_ not in kept and state["chunk_count"] and not (id_ in new and new[id_]["chunk_count"])
    }


def _unreplaced(
    before: Mapping[str, dict[str, Any]], new: Mapping[str, dict[str, Any]], vanished: Mapping[str, str]
) -> frozenset[str]:
    """Rekeyed documents with chunks whose object failed under its new id: their old rows are all there is."""
    nothing = [state["status"] == "failed" and not state["chunk_count"] for state in new.values()]
    failed = {state["uri"] for state, is_nothing in zip(new.values(), nothing, strict=True) if is_nothing}
    shown = {state["uri"] for state, is_nothing in zip(new.values(), nothing, strict=True) if not is_nothing}
    return frozenset(
        id_
        for id_, state in before.items()
        if vanished.get(id_) == "rekeyed" and state["chunk_count"] and state["uri"] in failed - shown
    )
