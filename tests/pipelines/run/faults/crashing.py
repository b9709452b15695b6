"""Crashes in processes of their own, as a program: FOLDER SCENE KIND. Prints how many points there were, by operation.

Every point is a fork of this process, which has imported everything and never runs Beam (whose threads would not
survive a fork).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import cast

from tests.pipelines.run.faults.injection import Kind
from tests.pipelines.run.faults.places import Disk
from tests.pipelines.run.faults.points import try_points
from tests.pipelines.run.faults.scenes import SCENES


def main(folder: str, scene: str, kind: str) -> None:
    set_up, crash = SCENES[scene](Disk(Path(folder))), cast(Kind, kind)
    print(json.dumps(Counter(try_points(set_up, crash, set_up.points(crash), fork=True))))


if __name__ == "__main__":
    main(*sys.argv[1:])
