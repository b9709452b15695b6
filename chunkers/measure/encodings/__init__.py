"""Byte-pair ranks of the tokenizers, as tiktoken pins them (SHA256SUMS)."""
