"""Folders of documents that change at random, on disk: seeded, so that a failing run can be repeated.

    world = World(tmp_path / "world", seed=7)      # two source folders with documents in ten languages
    edits = world.edit()                           # ["grow docs/дело №5.md", "narrow docs"]
    world.write_config(tmp_path / "rechunk.yaml", table=tmp_path / "table")
    world.documents()                              # {"hb/over [1].md": Path(…), …}: the ids a run should see now

Everything a run can meet is an edit: documents come, grow, shrink, empty, go, are renamed, touched, break and heal;
rules change, globs narrow and widen, ids get another prefix, a source comes and goes, a folder is wiped, two sources
make the same id.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SENTENCES: dict[str, tuple[str, ...]] = {
    "en": (
        "The harbour froze early that year.",
        "Nobody had paid the lamplighter since October, and it showed.",
        "A chunk ends where its reader may stop.",
        "“Is it ready?” she asked.",
    ),
    "de": (
        "Der Hafen fror in jenem Jahr früh zu.",
        "Die Größe des Straßenmaßes war niemandem bekannt.",
        "Donaudampfschifffahrtsgesellschaft heißt das Unternehmen.",
    ),
    "fr": (
        "Le port gela tôt cette année-là.",
        "« Est-ce prêt ? » demanda-t-elle.",
        "L'œuvre fut achevée à l'été.",
    ),
    "ru": ("Гавань замёрзла рано.", "Никто не платил фонарщику с октября.", "Дело закрыли в четверг."),
    "el": ("Το λιμάνι πάγωσε νωρίς.", "Κανείς δεν πλήρωσε τον φανοκόρο."),
    "ja": ("その年、港は早く凍った。", "「準備はできた？」と彼女は聞いた。", "灯台守には十月から誰も払っていない。"),
    "zh": ("那一年港口很早就结冰了。", "“准备好了吗？”她问。", "从十月起就没有人给点灯人付钱。"),
    "ar": ("تجمد الميناء مبكرا في ذلك العام.", "لم يدفع أحد لعامل المصابيح منذ أكتوبر."),
    "hi": ("उस साल बंदरगाह जल्दी जम गया।", "अक्टूबर से किसी ने पैसे नहीं दिए।"),
    "th": ("ปีนั้นท่าเรือกลายเป็นน้ำแข็งเร็ว", "ไม่มีใครจ่ายเงินให้คนจุดโคมตั้งแต่เดือนตุลาคม"),
}

STEMS: tuple[str, ...] = (
    "notes",
    "notes with spaces",
    "issue #12",
    "over [1]",
    "50% off",
    "100%25",
    "a+b=c&d",
    "it's",
    "semi;colon",
    "Überblick",
    unicodedata.normalize("NFD", "Überblick zwei"),
    "дело №5",
    "日本語 メモ",
    "会议纪要",
    "ملاحظات",
    "emoji 👩‍👩‍👧 family",
    ".hidden",
    "{braces}",
    "star*question?",
    "tail.",
    "CAPS",
    "caps",
)

FOLDERS: tuple[str, ...] = ("", "", "law", "law/eu [2024]", "über uns", "deep/er/and deeper", "100%/#1")
SUFFIXES: tuple[str, ...] = (".md", ".md", ".txt")
EXTRA_SUFFIXES: tuple[str, ...] = (".md", ".txt", ".TXT", ".markdown")

NOT_TEXT = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x06\x00\x00\x00" * 8
"""A document that cannot be chunked until somebody replaces it."""


@dataclass(slots=True)
class SourceSettings:
    """What the configuration says of one source at the moment."""

    folder: str
    id_prefix: str = ""
    suffixes: tuple[str, ...] = ()  # () takes everything
    excluded_folder: str | None = None
    enabled: bool = True

    def include(self) -> list[str]:
        return [f"**/*{suffix}" for suffix in self.suffixes] or ["**"]

    def exclude(self) -> list[str]:
        return [] if self.excluded_folder is None else [f"{self.excluded_folder}/**"]

    def selects(self, path: str) -> bool:
        """The globs above, said without globs."""
        if self.excluded_folder is not None and path.startswith(self.excluded_folder + "/"):
            return False
        return not self.suffixes or path.endswith(self.suffixes)


@dataclass(slots=True)
class RuleSettings:
    """Options of the default rule, and of the one for `law/`."""

    max_size: int = 400
    overlap: int = 0
    law_max_size: int | None = None


@dataclass(slots=True)
class World:
    """A folder with source folders `docs` and `handbook` below `root`, and the configuration that goes with it."""

    root: Path
    seed: int = 0
    documents_at_start: int = 12
    sources: list[SourceSettings] = field(init=False)
    rules: RuleSettings = field(init=False)
    history: list[str] = field(init=False)
    _random: random.Random = field(init=False)
    _clock: int = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._clock = 0
        self.sources = [SourceSettings(folder="docs"), SourceSettings(folder="handbook", id_prefix="hb/")]
        self.rules = RuleSettings()
        self.history = []
        for source in self.sources:
            (self.root / source.folder).mkdir(parents=True, exist_ok=True)
        for _ in range(self.documents_at_start):
            self._add()

    # What a run should see

    def documents(self) -> dict[str, Path]:
        """The ids that the enabled sources make now, each once (the first source keeps it), and their files."""
        found: dict[str, Path] = {}
        for source in self.sources:
            if not source.enabled:
                continue
            for path in self.files(source):
                if source.selects(path):
                    found.setdefault(source.id_prefix + path, self.root / source.folder / path)
        return dict(sorted(found.items()))

    def failing(self) -> set[str]:
        """The ids of `documents()` that are not text at the moment."""
        return {id_ for id_, file in self.documents().items() if file.read_bytes().startswith(NOT_TEXT[:8])}

    def collisions(self) -> set[str]:
        """The ids that more than one object makes."""
        seen: set[str] = set()
        twice: set[str] = set()
        for source in self.sources:
            for path in self.files(source) if source.enabled else ():
                if source.selects(path):
                    id_ = source.id_prefix + path
                    (twice if id_ in seen else seen).add(id_)
        return twice

    def files(self, source: SourceSettings) -> list[str]:
        """Paths below the source's folder, sorted by code point."""
        folder = self.root / source.folder
        return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())

    def config(self, table: Path | str, *, task_bytes: int = 4096) -> dict[str, Any]:
        """The configuration of now. Small tasks, so that a few documents already make several shards."""
        default = {"strategy": "fixed", "max_size": self.rules.max_size, "overlap": self.rules.overlap}
        chunking: dict[str, Any] = {"default": default}
        if self.rules.law_max_size is not None:
            chunking["rules"] = [{"match": "**law/**", "strategy": "fixed", "max_size": self.rules.law_max_size}]
        return {
            "name": "world",
            "source": [
                {
                    "path": str(self.root / source.folder),
                    "include": source.include(),
                    "exclude": source.exclude(),
                    "id_prefix": source.id_prefix,
                }
                for source in self.sources
                if source.enabled
            ],
            "chunking": chunking,
            "output": {"path": str(table), "task_bytes": task_bytes},
        }

    def write_config(self, file: Path, table: Path | str, *, task_bytes: int = 4096) -> Path:
        """Write `config` as YAML (of which JSON is a part) and return the file."""
        text = json.dumps(self.config(table, task_bytes=task_bytes), ensure_ascii=False, indent=2)
        file.write_text(text + "\n", encoding="utf-8")
        return file

    # Change

    def edit(self, times: int | None = None, *, only: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> list[str]:
        """Apply 1-4 (or `times`) random edits and say what they were. `only` and `without` name kinds of EDITS."""
        kinds = [kind for kind in EDITS if (not only or kind in only) and kind not in without]
        done = []
        while not only and len(self._files()) < self.documents_at_start // 2:
            done.append(f"add {self._add()}")  # a wiped world fills again
        for _ in range(self._random.randint(1, 4) if times is None else times):
            kind = self._random.choices(kinds, [EDITS[kind] for kind in kinds])[0]
            target = _ACTIONS[kind](self)
            if target is not None:
                done.append(f"{kind} {target}".rstrip())
        self.history += done
        return done

    def _add(self) -> str:
        source = self._random.choice(self.sources)
        folder, stem = self._random.choice(FOLDERS), self._random.choice(STEMS)
        suffix = self._random.choice(EXTRA_SUFFIXES if self._random.random() < 0.2 else SUFFIXES)
        file = self.root / source.folder / folder / (stem + suffix)
        if file.exists():
            file = file.with_name(f"{stem} {self._random.randint(2, 999)}{suffix}")
        return self._write(file, self._document(file.suffix).encode("utf-8"))

    def _collide(self) -> str | None:
        """Give the first source a document with the id of one of the second's."""
        first, second = self.sources
        paths = self.files(second)
        if not paths or not second.id_prefix.startswith(first.id_prefix):
            return None
        id_ = second.id_prefix + self._random.choice(paths)
        file = self.root / first.folder / id_[len(first.id_prefix) :]
        return None if file.exists() else self._write(file, self._document(file.suffix).encode("utf-8"))

    def _grow(self) -> str | None:
        return self._rewrite(
            lambda paragraphs: paragraphs + [self._paragraph() for _ in range(self._random.randint(1, 4))]
        )

    def _prepend(self) -> str | None:
        return self._rewrite(lambda paragraphs: [self._paragraph(), *paragraphs])

    def _amend(self) -> str | None:
        def amend(paragraphs: list[str]) -> list[str]:
            paragraphs[self._random.randrange(len(paragraphs))] = self._paragraph()
            return paragraphs

        return self._rewrite(amend)

    def _repeat(self) -> str | None:
        """The same paragraph twice in one document."""
        return self._rewrite(lambda paragraphs: [*paragraphs, self._random.choice(paragraphs)])

    def _reorder(self) -> str | None:
        def reorder(paragraphs: list[str]) -> list[str]:
            self._random.shuffle(paragraphs)
            return paragraphs

        return self._rewrite(reorder)

    def _shrink(self) -> str | None:
        return self._rewrite(lambda paragraphs: paragraphs[: max(1, len(paragraphs) // 2)])

    def _empty(self) -> str | None:
        file = self._pick()
        return None if file is None else self._write(file, self._random.choice([b"", b" \n\n\t\n", "\ufeff".encode()]))

    def _remove(self) -> str | None:
        file = self._pick()
        if file is None:
            return None
        file.unlink()
        return self._name(file)

    def _rename(self) -> str | None:
        file = self._pick()
        if file is None:
            return None
        target = file.with_name(f"{self._random.choice(STEMS)} {self._random.randint(2, 999)}{file.suffix}")
        if target.exists():
            return None
        file.rename(target)
        return f"{self._name(file)} -> {target.name}"

    def _touch(self) -> str | None:
        """Another time, the same bytes."""
        file = self._pick()
        return None if file is None else self._write(file, file.read_bytes())

    def _freshen(self) -> str | None:
        """New bytes with the time of this very moment, too young to trust."""
        file = self._pick()
        if file is None:
            return None
        return self._write(file, self._document(file.suffix).encode("utf-8"), aged=False)

    def _fail(self) -> str | None:
        file = self._pick()
        return None if file is None else self._write(file, NOT_TEXT)

    def _heal(self) -> str | None:
        broken = [file for file in self._files() if file.read_bytes() == NOT_TEXT]
        if not broken:
            return None
        file = self._random.choice(broken)
        return self._write(file, self._document(file.suffix).encode("utf-8"))

    def _change_rule(self) -> str:
        self.rules.max_size = self._random.choice([200, 400, 800])
        return f"to {self.rules.max_size}"

    def _change_law_rule(self) -> str:
        self.rules.law_max_size = self._random.choice([None, 150, 600])
        return f"to {self.rules.law_max_size}"

    def _narrow(self) -> str:
        source = self._random.choice(self.sources)
        if self._random.random() < 0.5:
            source.suffixes = (".md",)
        else:
            source.excluded_folder = self._random.choice(["law", "über uns", "deep"])
        return source.folder

    def _widen(self) -> str:
        source = self._random.choice(self.sources)
        source.suffixes, source.excluded_folder = (), None
        return source.folder

    def _wipe(self) -> str:
        source = self._random.choice(self.sources)
        shutil.rmtree(self.root / source.folder)
        (self.root / source.folder).mkdir()
        return source.folder

    def _change_prefix(self) -> str:
        source = self._random.choice(self.sources)
        source.id_prefix = self._random.choice(["", "hb/", "v2/", "страница/"])
        return f"{source.folder} to {source.id_prefix!r}"

    def _switch_second_source(self) -> str:
        self.sources[1].enabled = not self.sources[1].enabled
        return "on" if self.sources[1].enabled else "off"

    # Helpers

    def _files(self) -> list[Path]:
        return [self.root / source.folder / path for source in self.sources for path in self.files(source)]

    def _pick(self) -> Path | None:
        files = self._files()
        return self._random.choice(files) if files else None

    def _rewrite(self, change: Callable[[list[str]], list[str]]) -> str | None:
        texts = [file for file in self._files() if file.read_bytes().strip() and file.read_bytes() != NOT_TEXT]
        if not texts:
            return None
        file = self._random.choice(texts)
        paragraphs = file.read_text(encoding="utf-8").strip().split("\n\n")
        return self._write(file, ("\n\n".join(change(paragraphs)) + "\n").encode("utf-8"))

    def _write(self, file: Path, data: bytes, *, aged: bool = True) -> str:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        if aged:
            # Every write has its own second, long past: trustworthy at once, and nobody has to sleep.
            self._clock += 1
            moment = 1_600_000_000 + self._clock
            os.utime(file, (moment, moment))
        return self._name(file)

    def _name(self, file: Path) -> str:
        return file.relative_to(self.root).as_posix()

    def _document(self, suffix: str) -> str:
        paragraphs = [self._paragraph() for _ in range(self._random.randint(1, 12))]
        if suffix in (".md", ".markdown"):
            title = self._random.choice(STEMS)
            paragraphs = [f"# {title}", *(self._dress(paragraph) for paragraph in paragraphs)]
        return "\n\n".join(paragraphs) + "\n"

    def _paragraph(self) -> str:
        language = self._random.choice(sorted(SENTENCES))
        joint = "" if language in ("ja", "zh", "th") else " "
        number = self._random.randint(1, 9999)
        return f"{number}. " + joint.join(self._random.choices(SENTENCES[language], k=self._random.randint(1, 6)))

    def _dress(self, paragraph: str) -> str:
        kind = self._random.random()
        if kind < 0.25:
            return f"{'#' * self._random.randint(2, 4)} {paragraph[:30]}\n{paragraph}"
        if kind < 0.35:
            return f"```python\nprint({paragraph[:40]!r})\n```"
        if kind < 0.45:
            return f"- {paragraph}\n- {paragraph[:20]}"
        return paragraph


EDITS: dict[str, float] = {
    "add": 12,
    "grow": 10,
    "prepend": 5,
    "amend": 6,
    "repeat": 4,
    "reorder": 3,
    "shrink": 8,
    "empty": 3,
    "remove": 7,
    "rename": 5,
    "touch": 5,
    "freshen": 2,
    "fail": 3,
    "heal": 4,
    "collide": 2,
    "change-rule": 2,
    "change-law-rule": 2,
    "narrow": 2,
    "widen": 4,
    "wipe": 0.5,
    "change-prefix": 1,
    "switch-second-source": 1.5,
}
"""Kinds of edits and how often they come."""

_ACTIONS: dict[str, Callable[[World], str | None]] = {
    "add": World._add,
    "grow": World._grow,
    "prepend": World._prepend,
    "amend": World._amend,
    "repeat": World._repeat,
    "reorder": World._reorder,
    "shrink": World._shrink,
    "empty": World._empty,
    "remove": World._remove,
    "rename": World._rename,
    "touch": World._touch,
    "freshen": World._freshen,
    "fail": World._fail,
    "heal": World._heal,
    "collide": World._collide,
    "change-rule": World._change_rule,
    "change-law-rule": World._change_law_rule,
    "narrow": World._narrow,
    "widen": World._widen,
    "wipe": World._wipe,
    "change-prefix": World._change_prefix,
    "switch-second-source": World._switch_second_source,
}
