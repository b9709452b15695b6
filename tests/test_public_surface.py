"""What `import chunkers` offers: complete, importable, documented, and nothing by accident."""

from __future__ import annotations

import ast
import importlib
import inspect
import types
from pathlib import Path

import pytest

import chunkers

ROOT = Path(__file__).parent.parent


def test_every_name_in_all_can_be_imported_and_is_sorted_once() -> None:
    names = list(chunkers.__all__)
    assert [name for name in names if not hasattr(chunkers, name)] == []
    assert sorted(set(names)) == sorted(names)


def test_all_holds_every_public_name_of_the_package() -> None:
    submodules = {path.stem for path in (ROOT / "chunkers").iterdir()}
    public = {
        name
        for name, value in vars(chunkers).items()
        if not name.startswith("_") and not (isinstance(value, types.ModuleType) and name in submodules)
    }
    assert public == set(chunkers.__all__)


def test_every_error_is_public() -> None:
    errors = importlib.import_module("chunkers.errors")
    tree = {name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)}
    tree |= {name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Warning)}
    assert tree - set(chunkers.__all__) == set()


@pytest.mark.parametrize("package", ["chunkers", "pipelines"])
def test_every_public_module_class_and_function_has_a_docstring(package: str) -> None:
    missing = [where for path in sorted((ROOT / package).rglob("*.py")) for where in undocumented(path)]
    assert not missing, "\n".join(missing)


def undocumented(path: Path) -> list[str]:
    """`file:line: name` of the file's module docstring, classes and functions that are public and say nothing.

    Empty `__init__.py` files and the `add_arguments` and `command` that every module of the command line has are left
    out: `pipelines/cli/__init__.py` documents those once.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if not tree.body:
        return []
    shown = path.relative_to(ROOT)
    found = [] if ast.get_docstring(tree) else [f"{shown}:1: the module"]
    by_convention = {"add_arguments", "command"} if path.parent.name == "cli" else set()
    for node in tree.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("_") or node.name in by_convention or ast.get_docstring(node):
            continue
        found.append(f"{shown}:{node.lineno}: {node.name}")
    return found
