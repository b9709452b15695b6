"""The grammars of programming languages (extra `[code]`), and what their trees call a definition."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from chunkers.errors import MissingEngine

EXTRA = "pip install 'rechunk[code]'"


class Grammar(NamedTuple):
    """A language's parser, and by the kind of a node how the name of the definition is found that it is.

    `name`, `type`, `property`: in that field. `declarator`: where the chain of declarators ends. `value`: of the first
    variable whose value is a function. `receiver`: as `name`, in the type it is a method of. `in …`: the node only
    wraps a definition, in that field or (`in *`) in some child. `module` is imported when a document of the language
    comes; `ladder` is the language's name in `recursive`.
    """

    module: str
    function: str
    ladder: str
    definitions: Mapping[str, str]


def _by(how: str, kinds: str) -> dict[str, str]:
    return dict.fromkeys(kinds.split(), how)


_JAVASCRIPT = {
    **_by("name", "function_declaration generator_function_declaration class_declaration method_definition"),
    **_by("value", "lexical_declaration variable_declaration"),
    **_by("in declaration", "export_statement"),
    **_by("property", "field_definition"),
}
_TYPESCRIPT = {
    **_JAVASCRIPT,
    **_by("name", "abstract_class_declaration interface_declaration enum_declaration type_alias_declaration"),
    **_by("name", "internal_module module function_signature abstract_method_signature public_field_definition"),
    **_by("in *", "expression_statement ambient_declaration"),
}
_C = {
    **_by("declarator", "function_definition"),
    **_by("name", "struct_specifier union_specifier enum_specifier preproc_function_def"),
    **_by("in type", "type_definition"),
}

_GRAMMARS = {
    "python": Grammar(
        "tree_sitter_python",
        "language",
        "python",
        _by("name", "function_definition class_definition") | _by("in definition", "decorated_definition"),
    ),
    "javascript": Grammar("tree_sitter_javascript", "language", "js", _JAVASCRIPT),
    "typescript": Grammar("tree_sitter_typescript", "language_typescript", "ts", _TYPESCRIPT),
    "tsx": Grammar("tree_sitter_typescript", "language_tsx", "ts", _TYPESCRIPT),
    "go": Grammar(
        "tree_sitter_go",
        "language",
        "go",
        _by("name", "function_declaration type_spec")
        | _by("receiver", "method_declaration")
        | _by("in *", "type_declaration"),
    ),
    "java": Grammar(
        "tree_sitter_java",
        "language",
        "java",
        _by(
            "name",
            "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration"
            " method_declaration constructor_declaration compact_constructor_declaration",
        ),
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        "language",
        "rust",
        _by("name", "function_item function_signature_item struct_item enum_item union_item trait_item mod_item")
        | _by("name", "macro_definition")
        | _by("type", "impl_item"),
    ),
    "c": Grammar("tree_sitter_c", "language", "c", _C),
    "cpp": Grammar(
        "tree_sitter_cpp",
        "language",
        "cpp",
        _C
        | _by("name", "class_specifier namespace_definition concept_definition")
        | _by("in *", "template_declaration"),
    ),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        "language",
        "csharp",
        _by(
            "name",
            "namespace_declaration class_declaration interface_declaration struct_declaration record_declaration"
            " enum_declaration method_declaration constructor_declaration destructor_declaration property_declaration"
            " delegate_declaration local_function_statement",
        ),
    ),
    "ruby": Grammar("tree_sitter_ruby", "language", "ruby", _by("name", "class module method singleton_method")),
    "php": Grammar(
        "tree_sitter_php",
        "language_php",
        "php",
        _by(
            "name",
            "function_definition class_declaration interface_declaration trait_declaration enum_declaration"
            " method_declaration namespace_definition",
        ),
    ),
    "bash": Grammar("tree_sitter_bash", "language", "", _by("name", "function_definition")),
}
GRAMMARS: Mapping[str, Grammar] = MappingProxyType(_GRAMMARS)
"""Every language that `code` can parse."""

NAMES: Mapping[str, str] = MappingProxyType({"js": "javascript", "ts": "typescript", "c-sharp": "csharp", "sh": "bash"})
"""Other names of languages."""

_SUFFIXES: Mapping[str, str] = MappingProxyType(
    {"jsx": "javascript", "tsx": "tsx", "sh": "bash", "bash": "bash", "ksh": "bash"}
)
"""File endings that the ladders do not know, or that have a grammar of their own."""


def grammar_name(language: str) -> str | None:
    """The grammar for a language by any of its names."""
    name = NAMES.get(language, language)
    return name if name in GRAMMARS else None


def grammar_of(suffix: str, ladder: str | None) -> str | None:
    """The grammar for files that end in `suffix` (lower case, no dot); `ladder` is their language in `recursive`."""
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    return next((name for name, grammar in GRAMMARS.items() if ladder and grammar.ladder == ladder), None)


def check_installed(names: list[str]) -> None:
    """Raise MissingEngine unless tree-sitter and these grammars can be imported."""
    modules = dict.fromkeys(["tree_sitter", *(GRAMMARS[name].module for name in names)])
    missing = [module.replace("_", "-") for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise MissingEngine(f"strategy 'code' needs {', '.join(missing)}, not installed here: {EXTRA}")


@lru_cache(maxsize=len(_GRAMMARS))
def language_of_grammar(name: str) -> Any:
    """The `tree_sitter.Language` of a grammar; made once a process."""
    check_installed([name])
    tree_sitter: Any = importlib.import_module("tree_sitter")
    grammar = GRAMMARS[name]
    return tree_sitter.Language(getattr(importlib.import_module(grammar.module), grammar.function)())
