"""How one file is previewed: with the options that somebody names, or as a run with a configuration would chunk it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from chunkers import OptionError, build
from chunkers.measure.tokens import DEFAULT_ENCODING, ENCODINGS
from chunkers.strategies.base import Strategy
from pipelines.config.addresses import below
from pipelines.config.load import load_config
from pipelines.config.model import Budget, Source
from pipelines.errors import UsageError
from pipelines.routing import Router


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a file is read and cut with. `path` is its path below `source`, `id` and `rule` are those of a run."""

    strategy: Strategy
    source: Source
    path: str
    limits: Budget
    encoding_name: str
    id: str | None = None
    rule: str | None = None


def chosen(file: str, strategy: str, settings: Sequence[str], encoding_name: str | None) -> Choice:
    """`strategy` with the `settings` (`option=value`, the value in YAML). Raises UsageError."""
    try:
        splitter = build(strategy, **options_from(settings))
    except OptionError as error:
        raise UsageError(str(error)) from error
    return Choice(
        strategy=splitter,
        source=Source(path=str(Path(file).parent)),
        path=Path(file).name,
        limits=Budget(),
        encoding_name=_encoding(encoding_name),
    )


def configured(file: str, config_file: str, encoding_name: str | None) -> Choice:
    """What a run with the configuration does with `file`. Raises ConfigError; UsageError if no source takes it."""
    config = load_config(config_file)
    counted = None if config.tokens is None else config.tokens.encoding_name
    for source in config.sources:
        path = _below(file, source.path)
        if path is not None and source.selects(path):
            router = Router(config)
            rule = router.rule_of(source.id_prefix + path)
            return Choice(
                strategy=router.strategy(rule),
                source=source,
                path=path,
                limits=config.limits,
                encoding_name=_encoding(encoding_name or counted),
                id=source.id_prefix + path,
                rule=config.all_rules[rule].match or "(default)",
            )
    raise UsageError(f"{file}: no source of {config_file} takes it")


def _below(file: str, folder: str) -> str | None:
    """The path of a local file below a source; the file's name if it is the source. None if it is elsewhere."""
    if "://" not in folder:
        path = os.path.relpath(file, folder)  # as it is named: a link in the source may lead elsewhere
        if path != "." and path.partition(os.sep)[0] != "..":
            return path.replace(os.sep, "/")
    found = below(file, folder)
    return Path(file).name if found == "" else found


def _encoding(name: str | None) -> str:
    if name is not None and name not in ENCODINGS:
        raise UsageError(f"--encoding {name!r}: it names what tokens are counted in, one of {', '.join(ENCODINGS)}")
    return name or DEFAULT_ENCODING


def options_from(settings: Sequence[str]) -> dict[str, Any]:
    """`["max_size=500", "per_type.markdown.overlap=0"]` as options. Raises UsageError."""
    options: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--set {setting!r}: write it as option=value, such as max_size=500")
        try:
            parsed = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UsageError(f"--set {setting!r}: the value is not YAML ({error})") from error
        at = options
        *outer, last = name.strip().split(".")
        for part in outer:
            at = at.setdefault(part, {})
            if not isinstance(at, dict):
                raise UsageError(f"--set {setting!r}: {part} has a value already")
        at[last] = parsed
    return options
