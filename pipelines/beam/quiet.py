"""Keeps Beam's own talk off the terminal. Imports no Beam."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_beam() -> Iterator[None]:
    """Import and run Beam in here.

    Importing it logs about optional libraries through the root logger, which as a side effect gets a handler for good;
    running it logs every exception, which is raised anyway.
    """
    root, beam = logging.getLogger(), logging.getLogger("apache_beam")
    level, disabled = beam.level, root.manager.disable
    handler = logging.NullHandler()
    root.addHandler(handler)
    beam.setLevel(logging.CRITICAL)
    logging.disable(max(disabled, logging.WARNING))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
        beam.setLevel(level)
        root.removeHandler(handler)
