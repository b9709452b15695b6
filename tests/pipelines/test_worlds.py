"""The generator of random folders: a failing seed must fail again, and every kind of edit must happen."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.config.load import load_config
from tests.pipelines.worlds import EDITS, World


def lived(root: Path, seed: int) -> World:
    world = World(root, seed=seed)
    for _ in range(25):
        world.edit()
    return world


def test_a_seed_gives_the_same_world_again(tmp_path: Path) -> None:
    first, second = lived(tmp_path / "1", seed=3), lived(tmp_path / "2", seed=3)
    assert first.history == second.history
    contents = [{id_: file.read_bytes() for id_, file in world.documents().items()} for world in (first, second)]
    assert contents[0] == contents[1]


@pytest.mark.parametrize("kind", sorted(EDITS))
def test_every_kind_of_edit_can_happen(kind: str, tmp_path: Path) -> None:
    world = World(tmp_path / "world", seed=1)
    world.edit(1, only=("fail",))
    done = [edit for _ in range(20) for edit in world.edit(1, only=(kind,))]
    assert done
    assert {edit.partition(" ")[0] for edit in done} == {kind}


def test_its_configuration_selects_the_documents_it_says(tmp_path: Path) -> None:
    for seed in range(6):
        world = lived(tmp_path / str(seed), seed=seed)
        config = load_config(world.write_config(tmp_path / f"{seed}.yaml", table=tmp_path / "table"))
        selected = {
            source.id_prefix + path
            for source, settings in zip(config.sources, [s for s in world.sources if s.enabled], strict=True)
            for path in world.files(settings)
            if source.selects(path)
        }
        assert selected == set(world.documents())
