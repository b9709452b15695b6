"""Which rule applies to a document, and the strategy of a rule."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import chunkers
from chunkers.strategies.base import Strategy
from pipelines.config.fingerprint import fingerprint
from pipelines.config.model import Config
from pipelines.globs import compile_globs


class Router:
    """Rules by document id. A rule index counts into `Config.all_rules`: the default has the last one.

    Cheap to build and picklable; a strategy is built at its first use, once in each process.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._globs = compile_globs(rule.match or "**" for rule in config.rules)
        self._built: dict[int, Strategy] = {}

    def rule_of(self, document_id: str) -> int:
        """The index of the first rule whose glob matches the id (`id_prefix` + path), else of the default."""
        found = self._globs.first(document_id)
        return len(self._config.rules) if found is None else found

    def rules_of(self, document_ids: Sequence[str]) -> list[int]:
        """`rule_of` for many ids, in their order."""
        first, default = self._globs.first, len(self._config.rules)
        if not default:
            return [default] * len(document_ids)
        return [default if found is None else found for found in map(first, document_ids)]

    def strategy(self, rule: int) -> Strategy:
        """The strategy of a rule."""
        built = self._built.get(rule)
        if built is None:
            wanted = self._config.all_rules[rule]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what there was to warn of was said when the configuration was read
                built = self._built[rule] = chunkers.build(wanted.strategy, **wanted.options)
        return built

    def fingerprint(self, rule: int, source: int) -> str:
        """What the chunks of a document depend on besides its bytes: see `config.fingerprint`."""
        return fingerprint(self._config, self.strategy(rule), self._config.sources[source])

    def fingerprints(self, source: int) -> tuple[str, ...]:
        """The fingerprints of one source's documents under every rule, the default last."""
        return tuple(self.fingerprint(rule, source) for rule in range(len(self._config.all_rules)))

    def __getstate__(self) -> Config:
        return self._config

    def __setstate__(self, config: Any) -> None:
        self.__init__(config)  # type: ignore[misc]
