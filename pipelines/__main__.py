"""`python -m pipelines`, which is also the command `rechunk`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pipelines.allocation import keep_freed_memory


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (default: the process's own) and return its exit code."""
    keep_freed_memory()
    try:
        from pipelines.cli.main import main as run_command  # half a second of imports: Ctrl-C may well fall into it
    except KeyboardInterrupt:
        return 130
    return run_command(argv)


if __name__ == "__main__":
    sys.exit(main())
