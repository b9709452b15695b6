"""The memory of a process and all its descendants, sampled while they run. Linux only: it reads /proc."""

from __future__ import annotations

import threading
from pathlib import Path


class Memory:
    """Peak resident MB of a process and each of its descendants (`peaks`), and of their shares `together`."""

    def __init__(self, root: int) -> None:
        self.peaks: dict[int, int] = {}
        self.together = 0
        self._root = root
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._done.wait(1.0):
            together = 0
            for process in family(self._root):
                try:
                    status = Path(f"/proc/{process}/status").read_text()
                    share = Path(f"/proc/{process}/smaps_rollup").read_text()
                except OSError:
                    continue
                if "VmHWM:" in status:
                    self.peaks[process] = int(status.split("VmHWM:")[1].split()[0]) >> 10
                    together += int(share.split("Pss:")[1].split()[0]) >> 10
            self.together = max(self.together, together)


def family(root: int) -> list[int]:
    """A process and its descendants."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(folder.name))
    found, pending = [], [root]
    while pending:
        found.append(pending.pop())
        pending += children.get(found[-1], [])
    return found
