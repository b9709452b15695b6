"""`code`: along the definitions and statements that a grammar finds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import PurePosixPath
from typing import ClassVar

from chunkers.cutting.boundary_packing import pack_along
from chunkers.cutting.languages import CODE_ATOMS, LANGUAGES, language_of
from chunkers.cutting.levels import TEXT_LADDER, BlankLine, Grapheme, Ladder, Line, Word
from chunkers.cutting.limits import Bounds, Limit
from chunkers.cutting.packing import Overlap, Packer, Trim, pack
from chunkers.cutting.separators import Positions
from chunkers.errors import InvalidOption
from chunkers.records import Span, Split
from chunkers.strategies.base import with_start_index
from chunkers.strategies.contexts import StructuredSizes
from chunkers.structure.code import Source, read_code
from chunkers.structure.grammars import GRAMMARS, NAMES, check_installed, grammar_name, grammar_of
from chunkers.text.lines import skip_space

_CLOSERS = " \t\r\n})];,"
_MOST_CLOSERS = 256
_TAIL: Ladder = (BlankLine(), Line(), Word(), Grapheme())


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOptions(StructuredSizes):
    """Options of `code`: those for sizes, and `language`; unset, the document's path tells it."""

    language: str | None = None

    def __post_init__(self) -> None:
        super(CodeOptions, self).__post_init__()
        if self.language is None:
            check_installed(list(GRAMMARS))
        elif not isinstance(self.language, str) or grammar_name(self.language) is None:
            raise InvalidOption("language", self.language, f"one of {', '.join(sorted({*GRAMMARS, *NAMES}))}")
        else:
            check_installed([grammar_name(self.language) or ""])


@dataclass(frozen=True)
class Code:
    """The strategy; see the module."""

    options: CodeOptions = field(default_factory=CodeOptions)
    name: ClassVar[str] = "code"
    version: ClassVar[int] = 1
    Options: ClassVar[type[CodeOptions]] = CodeOptions

    @property
    def depends_on(self) -> Mapping[str, str]:
        """The versions of what parses."""
        language = grammar_name(self.options.language) if self.options.language else None
        names = [language] if language else list(GRAMMARS)
        modules = dict.fromkeys(["tree_sitter", *(GRAMMARS[name].module for name in names)])
        return {module: metadata.version(module.replace("_", "-")) for module in modules}

    def split(self, text: str, *, path: str | None = None, media_type: str | None = None) -> Split:
        """Cut `text`; one whose language is not known, or that does not parse, is cut as `recursive` cuts it."""
        suffix = PurePosixPath(path).suffix.lower()[1:] if path else ""
        ladder = language_of(suffix)
        language = grammar_name(self.options.language) if self.options.language else grammar_of(suffix, ladder)
        notes: list[str] = []
        source: Source | None = None
        if language is None:
            notes.append(f"no grammar for .{suffix} files" if suffix else "the language is not known")
        else:
            ladder = GRAMMARS[language].ladder
            source = read_code(text, language, self._small)
            if source.error is not None:
                notes.append("syntax error" if source.is_trusted else "does not parse; cut by the language's ladder")
        if source is None or not source.is_trusted:
            spans = self._by_ladder(text, LANGUAGES.get(ladder or "", TEXT_LADDER))
        else:
            spans = self._by_source(text, source)
        split = Split(spans, self.name, notes=tuple(notes))
        return with_start_index(split) if self.options.add_start_index else split

    @cached_property
    def _plan(self) -> tuple[Bounds, Trim, Overlap | None]:
        """Everything that does not depend on the document."""
        options = self.options
        return options.bounds(), options.trim(keep_indent=True), options.overlap_of(CODE_ATOMS, (Grapheme(),))

    @cached_property
    def _small(self) -> int:
        """How many characters surely fit into a chunk."""
        sizes = [most if unit.name in ("characters", "words") else most // 4 for unit, most in self._plan[0]]
        return min(sizes, default=1 << 62)

    def _by_ladder(self, text: str, ladder: Ladder) -> list[Span]:
        bounds, trim, overlap = self._plan
        return pack(text, 0, len(text), ladder, Limit(text, bounds), trim=trim, overlap=overlap)[0]

    def _by_source(self, text: str, source: Source) -> list[Span]:
        bounds, trim, overlap = self._plan
        levels: list[Positions] = []
        starts: list[int] = []
        for definitions, statements in source.levels:
            starts += definitions
            if definitions:
                levels.append(Positions.at("definition", definitions))
            if statements:
                levels.append(Positions.at("statement", statements))
        starts.sort()

        def floor(position: int) -> int:
            at = bisect_right(starts, skip_space(text, position, len(text))) - 1
            return starts[at] if at >= 0 else 0

        ladder = (*levels, *_TAIL)
        packer = Packer(text, len(text), ladder, Limit(text, bounds), trim, overlap, None, floor, None)
        spans = pack_along(packer, levels, starts, by_lines=True)
        leads = [each.lead for each in source.definitions]
        titled = []
        before = 0
        for span in spans:
            start = max(span.start, before)
            headings = source.path_of(start, _content_end(text, start, span.end), leads) if leads else ()
            titled.append(span._replace(headings=headings) if headings else span)
            before = span.end
        return titled


def _content_end(text: str, start: int, end: int) -> int:
    """The end of `text[start:end]` without what only closes: brackets, `end`."""
    floor = max(start, end - _MOST_CLOSERS)
    tail = text[floor:end].rstrip(_CLOSERS)
    while tail.endswith("end") and not tail[-4:-3].isalnum():
        tail = tail[:-3].rstrip(_CLOSERS)
    return floor + len(tail) if tail else end
