"""Which strategy reads which option, as the table that docs/strategies.md shows.

`python -m tests.docs.matrix` puts the table of today into the page.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from chunkers import strategy_kinds
from tests.docs.pages import ROOT

PAGE = ROOT / "docs/strategies.md"
HEADING = "### Which strategy reads which"
_TABLE = re.compile(rf"(?<={re.escape(HEADING)}\n\n)(?:[^|#\n][^\n]*\n|\n)*((?:\|[^\n]*\n)+)")


def default_of(field: dataclasses.Field[object]) -> str:
    """A default as the pages write it: as YAML does, `required` if there is none."""
    value = field.default
    if value is dataclasses.MISSING:
        if field.default_factory is dataclasses.MISSING:
            return "required"
        value = field.default_factory()
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else "{}" if isinstance(value, dict) else str(value)


def matrix() -> str:
    """Options down, in the order of their number of strategies; strategies across; a default where one is read."""
    kinds = strategy_kinds()
    read = {
        name: {field.name: default_of(field) for field in dataclasses.fields(kind.Options)}
        for name, kind in kinds.items()
    }
    options = list(dict.fromkeys(option for own in read.values() for option in own))
    options.sort(key=lambda option: -sum(option in own for own in read.values()))
    rows = [["option", *read], ["---"] * (len(read) + 1)]
    rows += [[f"`{option}`", *(own.get(option, "") for own in read.values())] for option in options]
    return "".join("|" + "|".join(f" {cell} " if cell else " " for cell in row) + "|\n" for row in rows)


def shown(page: Path = PAGE) -> str:
    """The table on the page."""
    found = _TABLE.search(page.read_text(encoding="utf-8"))
    return found[1] if found else ""


def refresh(page: Path = PAGE) -> None:
    """Put the table of today into the page."""
    text = page.read_text(encoding="utf-8")
    found = _TABLE.search(text)
    assert found is not None, f"{page} has no table below {HEADING!r}"
    page.write_text(text[: found.start(1)] + matrix() + text[found.end(1) :], encoding="utf-8")


if __name__ == "__main__":
    refresh()
