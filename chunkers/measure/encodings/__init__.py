"""The rank files of the tokenizers (package data) and their SHA-256 sums."""
