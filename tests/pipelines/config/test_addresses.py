"""Which address lies inside which."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.config.addresses import below


@pytest.mark.parametrize(
    ("address", "folder", "path"),
    [
        ("/data/table", "/data", "table"),
        ("/data", "/", "data"),
        ("/data/x", "/", "data/x"),
        ("/data", "/data/", ""),
        ("/database", "/data", None),
        ("memory://a/b", "memory://", "a/b"),
        ("s3://bucket/a", "s3a://bucket", "a"),
        ("s3://bucket2/a", "s3://bucket", None),
        ("file:///data/x", "/data", "x"),
    ],
)
def test_below(address: str, folder: str, path: str | None) -> None:
    assert below(address, folder) == path


def test_links_are_resolved(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "link").symlink_to("docs")
    assert below(str(tmp_path / "link" / "table"), str(tmp_path / "docs")) == "table"
