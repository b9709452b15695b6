"""What the library refuses about a strategy's options gets its file, line and key."""

from __future__ import annotations

import pytest

from pipelines.config.load import config_from
from pipelines.config.model import Config
from pipelines.config.tree import parse
from pipelines.errors import ConfigError

START = "source:\n  - path: docs\noutput: {path: table}\nchunking:\n"  # 4 lines


def load(text: str) -> Config:
    return config_from(parse((START + text).encode(), "c.yaml"), {})


CASES = [
    ("  default:\n    strategy: markdown\n    context: '{heading}'\n",
     ("c.yaml:7: chunking.default.context is '{heading}'; context must be a template such as \"{headings}\\n\\n\", whose "
      "fields are {title}, {headings}, {path} and {metadata[key]} (a brace that is none is written twice)")),
    ("  default: {strategy: 3}\n", "c.yaml:5: chunking.default.strategy is 3; it must be text (put it in quotes)"),
    ("  default:\n    strategy: recursive\n    overlap: 900\n    max_size: 800\n",
     "c.yaml:7: chunking.default.overlap is 900; overlap must be smaller than max_size, which is 800"),
    ("  default:\n    strategy: recursive\n    max_size: big\n",
     "c.yaml:7: chunking.default.max_size is 'big'; max_size must be an integer of at least 1, or null"),
    ("  default:\n    strategy: recursive\n    unit: chars\n",
     "c.yaml:7: chunking.default.unit is 'chars'; unit must be one of characters, tokens, words, bytes"),
    ("  default:\n    strategy: recursive\n    encoding_name: gpt2\n",
     ("c.yaml:7: chunking.default.encoding_name does nothing in strategy 'recursive': nothing is measured in tokens without "
     "`unit: tokens` or max_tokens; remove it")),
    (("  rules:\n    - match: 'a/**'\n      strategy: fixed\n    - match: 'b/**'\n      strategy: fixed\n      overlap: 900\n      "
     "max_size: 800\n"),
     "c.yaml:10: chunking.rules[1].overlap is 900; overlap must be smaller than max_size, which is 800"),
    ("  default:\n    strategy: auto\n    per_type:\n      recursive:\n        max_size: -3\n",
     "c.yaml:9: chunking.default.per_type.recursive.max_size is -3; max_size must be an integer of at least 1, or null"),
    ("  default:\n    strategy: recursive\n    strip_whitespace: 'yes'\n",
     "c.yaml:7: chunking.default.strip_whitespace is 'yes'; strip_whitespace must be true or false"),
    ("  default:\n    strategy: recursive\n    max_tokens: 100\n    encoding_name: gpt3\n",
     ("c.yaml:8: chunking.default.encoding_name is 'gpt3'; encoding_name must be one of cl100k_base, o200k_base, p50k_base, "
     "r50k_base, gpt2")),
    ("  default:\n    strategy: custom\n    chunker: no.module:f\n",
     ("c.yaml:7: chunking.default.chunker is 'no.module:f'; chunker must be the import path of a function (No module named "
     "'no'; is its folder on PYTHONPATH?)")),
    ("  default:\n    strategy: custom\n    chunker: tests.chunkers.strategies.chunker_samples:later\n",
     ("c.yaml:7: chunking.default.chunker is 'tests.chunkers.strategies.chunker_samples:later'; chunker must be a function that "
     "is not async")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), CASES)
def test_option_error_names_the_line_of_the_option(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text)
    assert str(caught.value) == message


STARTS = [
    ("  default: {strategy: recursiv}\n", "c.yaml:5: chunking.default.strategy is 'recursiv'; it must be one of ",
     "(did you mean 'recursive'?)"),
    ("  default: {strategy: recursive, max_sise: 3}\n",
     "c.yaml:5: chunking.default.max_sise is not an option of this strategy (did you mean 'max_size'?); options: ", "unit"),
    ("  default:\n    strategy: auto\n    per_type:\n      recursive: {max_sise: 3}\n",
     "c.yaml:8: chunking.default.per_type.recursive.max_sise is not an option of this strategy (did you mean 'max_size'?)", ""),
    ("  default: {strategy: fixed, separators: [a]}\n",
     "c.yaml:5: chunking.default.separators does nothing in strategy 'fixed': ", "; remove it"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "start", "end"), STARTS)
def test_unknown_names_come_with_the_nearest_known_one(text: str, start: str, end: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text)
    assert str(caught.value).startswith(start)
    assert str(caught.value).endswith(end)


def test_documented_precedence_is_a_warning_with_its_line() -> None:
    config = load(
        "  default:\n    strategy: recursive\n    unit: tokens\n    model_name: gpt-4\n    encoding_name: gpt2\n"
    )
    assert config.warnings == ("c.yaml:5: model_name 'gpt-4' takes precedence over encoding_name 'gpt2'",)
