"""Measurements of speed and linearity; see README.md here. Not part of the wheel."""
