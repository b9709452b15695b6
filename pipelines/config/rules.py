"""The section `chunking`: which strategy, with which options, for which documents.

Options belong to the strategies. Each rule's strategy is built once, and what the library refuses is given a file,
a line and a key here.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import chunkers
from chunkers.errors import OptionError, UnknownOption, UnknownStrategy, nearest
from pipelines.config.model import Rule
from pipelines.config.reader import Section, check_glob
from pipelines.config.tree import KeyPath, Tree, dotted, show
from pipelines.errors import ConfigError

CHUNKING_KEYS = ("default", "rules")
RULE_KEYS = ("match", "strategy")


def read_chunking(top: Section, notes: list[str]) -> tuple[Rule, tuple[Rule, ...]]:
    """The default rule and the others in order. Warnings of the library are added to `notes`, with their place."""
    if not top.has("chunking"):
        return Rule(strategy="auto"), ()
    section = top.section("chunking", CHUNKING_KEYS)
    tree, default = top.tree, Rule(strategy="auto")
    if section.has("default"):
        read = partial(_rule, tree, ("chunking", "default"), section.values["default"], notes, matches=False)
        default = tree.attempt(read, default)
    value = section.values.get("rules", [])
    if not isinstance(value, list):
        raise section.error("rules", f"is {show(value)}; it must be a list of rules, each '- match: …'")
    rules = tuple(
        tree.attempt(partial(_rule, tree, ("chunking", "rules", number), item, notes, matches=True), default)
        for number, item in enumerate(value)
    )
    if tree.is_sound("chunking.rules"):
        _refuse_unreachable(tree, rules)
    return default, rules


def _rule(tree: Tree, path: KeyPath, value: Any, notes: list[str], *, matches: bool) -> Rule:
    known = RULE_KEYS if matches else RULE_KEYS[1:]
    section = Section(tree, path, value, known, open_ended=True)
    if not matches and section.has("match"):
        raise section.error("match", "has no meaning here: the default applies where no rule matches; remove it")
    match = check_glob(tree, (*path, "match"), section.get("match")) if matches else None
    strategy = section.text("strategy")
    if not tree.is_sound(dotted((*path, "strategy"))):
        return Rule(match=match, strategy="auto")
    options = {key: item for key, item in section.values.items() if key not in RULE_KEYS}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            chunkers.build(strategy, **options)
        except OptionError as error:
            raise option_error(tree, path, error) from error
        except TypeError as error:
            raise tree.error(path, f"cannot be built: {error}") from error
    place = f"{tree.file}:{tree.line(path)}"
    notes.extend(
        f"{place}: {warning.message}" for warning in caught if warning.category.__module__.startswith("chunkers")
    )
    return Rule(match=match, strategy=strategy, options=options)


def option_error(tree: Tree, rule: KeyPath, error: OptionError) -> ConfigError:
    """The library's error with file, line and key. Its message starts with the option where the value is at fault."""
    if error.name is None:
        return tree.error(rule, _predicate(error))
    path: KeyPath = (*rule, *error.name.split("."))
    if path not in tree.lines:  # inside `per_type` the library names the option alone
        deeper = [place for place in tree.lines if place[: len(rule)] == rule and place[-1] == error.name]
        path = deeper[0] if len(deeper) == 1 else path
    return tree.error(path, _predicate(error))


def _predicate(error: OptionError) -> str:
    """The library's message as what follows the key."""
    message, allowed = str(error), error.allowed
    if isinstance(error, UnknownStrategy):
        return f"is {show(error.value)}; it must be one of {', '.join(allowed)}{nearest(str(error.value), allowed)}"
    if isinstance(error, UnknownOption):
        return f"is not an option of this strategy{nearest(error.name or '', allowed)}; options: {', '.join(allowed)}"
    for start in (f"{error.name} ", f"option {error.name!r} "):
        if message.startswith(start):
            return message[len(start) :]
    return f"cannot be used: {message}"


def _refuse_unreachable(tree: Tree, rules: tuple[Rule, ...]) -> None:
    seen: dict[str, int] = {}
    for number, rule in enumerate(rules):
        earlier = next((n for pattern, n in seen.items() if pattern in ("**", rule.match)), None)
        if earlier is not None:
            raise tree.error(
                ("chunking", "rules", number, "match"),
                f"is {show(rule.match)}, which never applies: chunking.rules[{earlier}] matches the same "
                "documents first",
            )
        seen[rule.match or ""] = number
