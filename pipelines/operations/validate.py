"""What a configuration says, once it has been found valid."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from pipelines.config.load import load_config


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A valid configuration in short. `rules` are (match, strategy, options), the default last."""

    name: str
    table: str
    tokens: str | None
    sources: tuple[tuple[str, str, str], ...]
    rules: tuple[tuple[str, str, str], ...]
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "valid": True,
            "name": self.name,
            "table": self.table,
            "tokens": self.tokens,
            "sources": [path for path, _, _ in self.sources],
            "rules": [{"match": match, "strategy": strategy} for match, strategy, _ in self.rules],
            "warnings": list(self.warnings),
        }


def describe(path: str | os.PathLike[str]) -> Description:
    """Load the configuration at `path` and sum it up. Raises ConfigError."""
    config = load_config(path)
    return Description(
        name=config.name,
        table=config.output.path,
        tokens=config.tokens.encoding_name if config.tokens else None,
        sources=tuple(
            (source.path, ", ".join(source.include), ", ".join(source.exclude) or "–") for source in config.sources
        ),
        rules=tuple(
            (
                rule.match or "(default)",
                rule.strategy,
                ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in rule.options.items()),
            )
            for rule in config.all_rules
        ),
        warnings=config.warnings,
    )
