"""The version, here and nowhere else: packaging reads it from this file."""

VERSION = "0.1.0"
