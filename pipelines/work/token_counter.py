"""Counts tokens for the column `token_count`."""

from __future__ import annotations

from typing import Any

from chunkers.measure.tokens import TokenMap, encoding
from pipelines.work.chunk_document import TokenCounter


def token_counter(encoding_name: str) -> TokenCounter:
    """Counts the tokens of `context + text` of chunks of one text, which is encoded once."""
    tokenizer = encoding(encoding_name)

    def of_text(text: str) -> Any:
        tokens = TokenMap(text, tokenizer)

        def count(start: int, end: int, context: str, rendered: str | None) -> int:
            if rendered is None and not context:
                return tokens.count(start, end)
            return tokenizer.count(context + (text[start:end] if rendered is None else rendered))

        return count

    return of_text
