"""The arrows between modules, read from the source: who may import whom, and who may import Beam or fsspec.

Every import counts, also one inside a function or under `TYPE_CHECKING`. A violation names the file and the line.
"""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent

CHUNKERS_ORDER = [
    "records",
    "errors",
    "budget",
    "text",
    "measure",
    "structure",
    "cutting",
    "strategies",
    "registry",
    "composing",
    "api",
    "__init__",
]
"""A part of `chunkers` imports only itself and parts above it in this list."""

NETWORK = {"aiohttp", "ftplib", "http", "httpx", "requests", "smtplib", "socket", "ssl", "urllib3", "urllib.request"}


class Import(NamedTuple):
    """`importer` (a dotted module of ours) names `target` (dotted, ours or not) in line `line` of `file`."""

    importer: str
    target: str
    file: Path
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.importer} imports {self.target}"


def modules(root: Path) -> dict[str, Path]:
    """Dotted name → file of every module of both packages. A package is `name.__init__`."""
    files = (path for package in ("chunkers", "pipelines") for path in (root / package).rglob("*.py"))
    return {".".join(path.relative_to(root).with_suffix("").parts): path for path in sorted(files)}


def imports(root: Path) -> list[Import]:
    """Every import statement of both packages, with targets inside them resolved to the module that is meant."""
    known = modules(root)
    found = []
    for name, path in known.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            targets = {_resolve(target, known) for target in _targets(node, name)}
            found += [Import(name, target, path.relative_to(root), node.lineno) for target in sorted(targets)]
    return found


def _targets(node: ast.AST, importer: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = importer.split(".")[: -node.level] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        yield from (f"{base}.{alias.name}" for alias in node.names)


def _resolve(target: str, known: dict[str, Path]) -> str:
    """`chunkers.api.chunk` → `chunkers.api`; `chunkers.text` → `chunkers.text.__init__`; others stay."""
    parts = target.split(".")
    if parts[0] not in ("chunkers", "pipelines"):
        return target
    while parts:
        for candidate in (".".join(parts), ".".join([*parts, "__init__"])):
            if candidate in known:
                return candidate
        parts.pop()
    return target


def part(module: str) -> str:
    """The folder or top-level module a dotted name of ours belongs to: `chunkers.text.lines` → `text`."""
    return module.split(".")[1]


def chunkers_upward(found: list[Import]) -> list[str]:
    """Imports inside `chunkers` that point to a later part, and parts that have no place in the order."""
    wrong = []
    for one in found:
        if not (one.importer.startswith("chunkers.") and one.target.startswith("chunkers.")):
            continue
        source, target = part(one.importer), part(one.target)
        if source not in CHUNKERS_ORDER or target not in CHUNKERS_ORDER:
            wrong.append(f"{one}: add {source!r} and {target!r} to CHUNKERS_ORDER")
        elif CHUNKERS_ORDER.index(target) > CHUNKERS_ORDER.index(source):
            wrong.append(str(one))
    return wrong


def cycles(found: list[Import]) -> list[list[str]]:
    """Import cycles between modules of ours, each as the modules along it."""
    graph: dict[str, set[str]] = {}
    for one in found:
        if one.target.split(".")[0] in ("chunkers", "pipelines") and one.target != one.importer:
            graph.setdefault(one.importer, set()).add(one.target)
    done: set[str] = set()
    rings: list[list[str]] = []

    def visit(module: str, trail: list[str]) -> None:
        if module in trail:
            rings.append([*trail[trail.index(module) :], module])
        elif module not in done:
            for target in sorted(graph.get(module, ())):
                visit(target, [*trail, module])
            done.add(module)

    for module in sorted(graph):
        visit(module, [])
    return rings


def within(module: str, *packages: str) -> bool:
    """Whether a dotted name is one of the packages or lies below one."""
    return any(module == package or module.startswith(package + ".") for package in packages)


@pytest.fixture(scope="module")
def found() -> list[Import]:
    return imports(ROOT)


def violations(wrong: list[Import]) -> str:
    return "\n".join(map(str, wrong))


def test_pipelines_imports_chunkers_and_never_back(found: list[Import]) -> None:
    wrong = [one for one in found if within(one.importer, "chunkers") and within(one.target, "pipelines")]
    assert not wrong, violations(wrong)
    assert any(within(one.importer, "pipelines") and within(one.target, "chunkers") for one in found)


def test_chunkers_parts_import_only_parts_before_them(found: list[Import]) -> None:
    wrong = chunkers_upward(found)
    assert not wrong, "\n".join(wrong)


def test_strategies_never_import_each_other(found: list[Import]) -> None:
    strategies = {
        one.target.split(".")[2]
        for one in found
        if one.importer == "chunkers.registry" and within(one.target, "chunkers.strategies")
    } - {"base"}
    assert "recursive" in strategies
    wrong = [
        one
        for one in found
        if within(one.importer, "chunkers.strategies")
        and within(one.target, "chunkers.strategies")
        and one.target.split(".")[2] in strategies - {one.importer.split(".")[2]}
    ]
    assert not wrong, violations(wrong)


def test_chunkers_knows_neither_beam_nor_storage_nor_arrow_nor_the_network(found: list[Import]) -> None:
    wrong = [
        one
        for one in found
        if within(one.importer, "chunkers") and within(one.target, "apache_beam", "fsspec", "pyarrow", *NETWORK)
    ]
    assert not wrong, violations(wrong)


@pytest.mark.parametrize(
    ("library", "home"),
    [
        ("apache_beam", "pipelines.beam"),
        ("apache_beam.ml", "pipelines.beam.rag"),
        ("apache_beam.yaml", "nobody"),
        ("fsspec", "pipelines.storage"),
        ("obstore", "pipelines.storage"),
    ],
)
def test_one_folder_only_imports(library: str, home: str, found: list[Import]) -> None:
    wrong = [one for one in found if within(one.target, library) and not within(one.importer, home)]
    assert not wrong, violations(wrong)


def test_only_the_entry_point_imports_the_command_line(found: list[Import]) -> None:
    wrong = [
        one
        for one in found
        if within(one.target, "pipelines.cli") and not within(one.importer, "pipelines.cli", "pipelines.__main__")
    ]
    assert not wrong, violations(wrong)


def test_no_module_imports_itself_through_others(found: list[Import]) -> None:
    rings = cycles(found)
    where = {(one.importer, one.target): one for one in found}
    assert not rings, "\n\n".join("\n".join(str(where[a, b]) for a, b in pairwise(ring)) for ring in rings)


def test_every_third_party_import_is_a_declared_dependency(found: list[Import]) -> None:
    owners = importlib.metadata.packages_distributions()
    declared = {_canonical(re.split(r"[<>=\[; ]", name)[0]) for name in _declared_requirements()}
    wrong = [
        one
        for one in found
        if (top := one.target.split(".")[0]) not in sys.stdlib_module_names
        and top not in ("chunkers", "pipelines")
        and not declared & {_canonical(owner) for owner in owners.get(top, [])}
    ]
    assert not wrong, violations(wrong)


def _declared_requirements() -> list[str]:
    tree = ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))
    lists = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List) and node.targets[0].id != "DEV"  # type: ignore[attr-defined]
    ]
    return [item.value for one in lists for item in one.elts if isinstance(item, ast.Constant)]


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


class TestTheReader:
    """The functions above, on a tree that is wrong in every way they look for."""

    @pytest.fixture
    def tree(self, tmp_path: Path) -> Path:
        for name, source in {
            "chunkers/__init__.py": "from chunkers.api import chunk\n",
            "chunkers/api.py": "import chunkers.text.lines\n\n\ndef chunk():\n    from pipelines import work\n",
            "chunkers/text/__init__.py": "",
            "chunkers/text/lines.py": "from ..api import chunk\n",
            "pipelines/__init__.py": "",
            "pipelines/work.py": "import apache_beam.io as io\n",
        }.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
        return tmp_path

    def test_imports_are_resolved_to_modules_with_their_lines(self, tree: Path) -> None:
        assert [str(one) for one in imports(tree)] == [
            "chunkers/__init__.py:1: chunkers.__init__ imports chunkers.api",
            "chunkers/api.py:1: chunkers.api imports chunkers.text.lines",
            "chunkers/api.py:5: chunkers.api imports pipelines.work",
            "chunkers/text/lines.py:1: chunkers.text.lines imports chunkers.api",
            "pipelines/work.py:1: pipelines.work imports apache_beam.io",
        ]

    def test_an_upward_import_is_found(self, tree: Path) -> None:
        assert chunkers_upward(imports(tree)) == ["chunkers/text/lines.py:1: chunkers.text.lines imports chunkers.api"]

    def test_a_cycle_is_found(self, tree: Path) -> None:
        assert cycles(imports(tree)) == [["chunkers.api", "chunkers.text.lines", "chunkers.api"]]
