"""`python -m pipelines`, which is also the command `rechunk`."""

from __future__ import annotations

import sys

from pipelines.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
