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
    """A language's parser and the query for its definitions: `@def` the whole, `@name`, `@owner` what it belongs to.

    `module` is imported when a document of the language comes; `ladder` is the language's name in `recursive`.
    """

    module: str
    function: str
    ladder: str
    definitions: str


def _named(kinds: str, name: str = "(_)") -> str:
    return "".join(f"({kind} name: {name} @name) @def\n" for kind in kinds.split())


_FUNCTION_VALUE = "[(arrow_function) (function_expression) (generator_function) (class)]"
_JAVASCRIPT = (
    _named("function_declaration generator_function_declaration class_declaration method_definition")
    + f"""
    (lexical_declaration (variable_declarator name: (identifier) @name value: {_FUNCTION_VALUE})) @def
    (variable_declaration (variable_declarator name: (identifier) @name value: {_FUNCTION_VALUE})) @def
    (export_statement declaration: (_ name: (_) @name)) @def
    (export_statement declaration: (lexical_declaration
        (variable_declarator name: (identifier) @name value: {_FUNCTION_VALUE}))) @def
    """
)
_TYPESCRIPT = (
    _JAVASCRIPT
    + _named(
        "abstract_class_declaration interface_declaration enum_declaration type_alias_declaration internal_module"
        " module function_signature abstract_method_signature"
    )
    + "(export_statement declaration: (internal_module name: (_) @name)) @def\n"
    + f"(public_field_definition name: (_) @name value: {_FUNCTION_VALUE}) @def\n"
)
_C_FUNCTION = """
    (function_definition declarator: (function_declarator declarator: (_) @name)) @def
    (function_definition declarator: (_ declarator: (function_declarator declarator: (_) @name))) @def
    (function_definition declarator: (_ declarator: (_ declarator: (function_declarator declarator: (_) @name)))) @def
"""
_CPP_FUNCTION = """
    (function_definition declarator: (function_declarator declarator: (_) @name)) @def
    (function_definition declarator: (_ (function_declarator declarator: (_) @name))) @def
"""
_C_TYPES = "".join(
    f"({kind} name: (_) @name body: (_)) @def\n" for kind in ("struct_specifier", "union_specifier", "enum_specifier")
)

_GRAMMARS = {
    "python": Grammar(
        "tree_sitter_python",
        "language",
        "python",
        _named("function_definition class_definition") + "(decorated_definition definition: (_ name: (_) @name)) @def",
    ),
    "javascript": Grammar(
        "tree_sitter_javascript",
        "language",
        "js",
        _JAVASCRIPT + f"(field_definition property: (_) @name value: {_FUNCTION_VALUE}) @def",
    ),
    "typescript": Grammar("tree_sitter_typescript", "language_typescript", "ts", _TYPESCRIPT),
    "tsx": Grammar("tree_sitter_typescript", "language_tsx", "ts", _TYPESCRIPT),
    "go": Grammar(
        "tree_sitter_go",
        "language",
        "go",
        _named("function_declaration")
        + """
        (method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (_) @name) @def
        (type_declaration (type_spec name: (_) @name)) @def
        """,
    ),
    "java": Grammar(
        "tree_sitter_java",
        "language",
        "java",
        _named(
            "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration"
            " method_declaration constructor_declaration compact_constructor_declaration"
        ),
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        "language",
        "rust",
        _named(
            "function_item function_signature_item struct_item enum_item union_item trait_item mod_item"
            " macro_definition"
        )
        + "(impl_item type: (_) @name) @def",
    ),
    "c": Grammar("tree_sitter_c", "language", "c", _C_FUNCTION + _C_TYPES + _named("preproc_function_def")),
    "cpp": Grammar(
        "tree_sitter_cpp",
        "language",
        "cpp",
        _CPP_FUNCTION
        + _C_TYPES.replace("(union_specifier", "(class_specifier name: (_) @name body: (_)) @def\n(union_specifier")
        + _named("preproc_function_def namespace_definition concept_definition")
        + """
        (template_declaration (function_definition declarator: (function_declarator declarator: (_) @name))) @def
        (template_declaration (class_specifier name: (_) @name body: (_))) @def
        (template_declaration (struct_specifier name: (_) @name body: (_))) @def
        """,
    ),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        "language",
        "csharp",
        _named(
            "namespace_declaration class_declaration interface_declaration struct_declaration record_declaration"
            " enum_declaration method_declaration constructor_declaration destructor_declaration property_declaration"
            " delegate_declaration local_function_statement"
        ),
    ),
    "ruby": Grammar("tree_sitter_ruby", "language", "ruby", _named("class module method singleton_method")),
    "php": Grammar(
        "tree_sitter_php",
        "language_php",
        "php",
        _named(
            "function_definition class_declaration interface_declaration trait_declaration enum_declaration"
            " method_declaration"
        )
        + "(namespace_definition name: (_) @name body: (_)) @def",
    ),
    "bash": Grammar("tree_sitter_bash", "language", "", _named("function_definition")),
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


class Engine(NamedTuple):
    """A language ready to be parsed: its `tree_sitter.Language` and its compiled query."""

    language: Any
    query: Any


@lru_cache(maxsize=len(_GRAMMARS))
def engine(name: str) -> Engine:
    """A language and its query; made once a process."""
    check_installed([name])
    tree_sitter: Any = importlib.import_module("tree_sitter")
    grammar = GRAMMARS[name]
    language = tree_sitter.Language(getattr(importlib.import_module(grammar.module), grammar.function)())
    return Engine(language, tree_sitter.Query(language, grammar.definitions))
