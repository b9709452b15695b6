"""Parsers: documents as blocks with offsets. They say where structure is, never where to cut."""
