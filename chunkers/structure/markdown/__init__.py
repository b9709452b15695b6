"""Markdown: text to blocks with exact offsets."""

from chunkers.structure.markdown.blocks import Block, Heading, Kind
from chunkers.structure.markdown.reading import Reading
from chunkers.structure.markdown.scanner import Dialect, list_items, scan

__all__ = ["Block", "Dialect", "Heading", "Kind", "Reading", "list_items", "scan"]
