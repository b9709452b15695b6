"""`python -m pipelines`, which is also the command `rechunk`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (default: the process's own) and return its exit code."""
    # Read once, when Arrow is imported: its own allocator returns memory that planning then faults in again, a third
    # of the CPU of a night on which little changed, and holds 60 MB more (benchmarks/job.py nights).
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        from pipelines.cli.main import main as run_command  # half a second of imports: Ctrl-C may well fall into it
    except KeyboardInterrupt:
        return 130
    return run_command(argv)


if __name__ == "__main__":
    sys.exit(main())
