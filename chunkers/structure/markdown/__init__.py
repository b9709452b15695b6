"""Markdown: text to blocks with exact offsets."""

from chunkers.structure.markdown.blocks import Block, Kind
from chunkers.structure.markdown.scanner import Dialect, list_items, scan

__all__ = ["Block", "Dialect", "Kind", "list_items", "scan"]
