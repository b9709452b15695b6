"""What only a disk has: links, odd files, temporary files, racing processes."""

from __future__ import annotations

import multiprocessing
import os
import random
import socket
import time
from pathlib import Path

import pytest

from pipelines.errors import StorageError
from pipelines.storage import disk
from pipelines.storage.local import LocalStore
from pipelines.storage.plainfiles import entry_of


def listing(store: LocalStore, prefix: str = "") -> tuple[list[str], list[tuple[str, str]]]:
    skipped: list[tuple[str, str]] = []
    entries = [path for page in store.list(prefix, lambda *what: skipped.append(what)) for path in page.paths]
    return sorted(entries), sorted(skipped)


def test_links_are_followed_once_and_loops_end(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a" / "deep").mkdir(parents=True)
    (root / "a" / "deep" / "x.md").write_text("x")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "y.md").write_text("y")
    (root / "loop").symlink_to(root)
    (root / "a" / "deep" / "up").symlink_to("..")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "out2").symlink_to(tmp_path / "outside")
    (root / "file.md").symlink_to("a/deep/x.md")
    (root / "broken.md").symlink_to("nowhere")
    entries, skipped = listing(LocalStore(str(root)))
    assert entries == ["a/deep/x.md", "file.md", "out/y.md"]
    twice = "links to a folder that is listed under another name"
    assert skipped == [("a/deep/up", twice), ("broken.md", "a broken symbolic link"), ("loop", twice), ("out2", twice)]
    entries, skipped = listing(LocalStore(str(root), follow_links=False))
    assert entries == ["a/deep/x.md"]
    assert len(skipped) == 6


def test_the_order_is_that_of_paths(tmp_path: Path) -> None:
    rng = random.Random(5)
    names = ["a", "a b", "a!", "a.txt", "b", "é", "z", "zz.md", "-", "0"]
    for _ in range(300):
        parts = rng.choices(names, k=rng.randint(1, 4))
        file = tmp_path.joinpath(*parts[:-1], parts[-1] + ".file" * rng.randint(0, 1))
        if not any(above.is_file() for above in file.parents) and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x")
    expected = sorted(str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file())
    assert len(expected) > 100
    assert [path for page in LocalStore(str(tmp_path)).list() for path in page.paths] == expected
    for number in range(0, len(expected), 3):  # links to files too: all are there, whatever their order
        (tmp_path / expected[number]).with_name(f"link {number}").symlink_to(tmp_path / expected[number])
    everything = sorted(str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file())
    assert len(everything) > len(expected)
    assert sorted(path for page in LocalStore(str(tmp_path)).list() for path in page.paths) == everything


def test_only_regular_files_are_listed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
    (tmp_path / "empty").mkdir()
    (tmp_path / "real").write_text("1")
    assert listing(LocalStore(str(tmp_path))) == (
        ["real"],
        [("pipe", "not a regular file"), ("sock", "not a regular file")],
    )
    assert LocalStore(str(tmp_path)).stat("empty") is None


def test_undecodable_names_are_reported(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/caf\xe9.md", "wb"):
        pass
    os.mkdir(os.fsencode(tmp_path) + b"/d\xff")
    (tmp_path / "ok.md").write_text("1")
    reason = "the name is not valid UTF-8"
    assert listing(LocalStore(str(tmp_path))) == (["ok.md"], [(r"caf\xe9.md", reason), (r"d\xff", reason)])


def test_temporary_files_are_never_listed_but_similar_names_are(tmp_path: Path) -> None:
    (tmp_path / ".tmp-rechunk-0123456789abcdef").write_text("half")
    (tmp_path / ".tmp-notes.md").write_text("mine")
    assert listing(LocalStore(str(tmp_path)))[0] == [".tmp-notes.md"]


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    store.write("a", b"1")
    store.create("b", b"1")
    store.create("b", b"2")
    store.link("a", "c")
    with pytest.raises(StorageError):
        store.write("x" * 300, b"name too long")
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


def test_writing_below_a_file_is_a_storage_error(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    store.write("a", b"1")
    with pytest.raises(StorageError, match="cannot be written: Not a directory"):
        store.write("a/b", b"2")
    with pytest.raises(StorageError, match="cannot be created: Not a directory"):
        store.create("a/b", b"2")


def test_new_files_have_ordinary_permissions(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    old = os.umask(0o022)
    try:
        store.write("a", b"1")
        store.create("b", b"1")
    finally:
        os.umask(old)
    assert [os.stat(tmp_path / name).st_mode & 0o777 for name in "ab"] == [0o644, 0o644]


def test_a_file_of_the_future_is_trusted_once_its_times_are_old(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    store = LocalStore(str(tmp_path))
    os.utime(tmp_path / "a", (4e9, 4e9))
    made = os.stat(tmp_path / "a")
    moment = made.st_ctime_ns
    young, old = (entry_of("a", made, moment + age).validator for age in (10_000_000, 2_100_000_000))
    assert (young, old is None) == (None, False)
    time.sleep(0.03)
    listed = next(iter(store.list())).validators
    (tmp_path / "a").write_text("2")
    os.utime(tmp_path / "a", (4e9, 4e9))
    assert listed == [old] != [entry_of("a", os.stat(tmp_path / "a"), moment + 10_000_000_000).validator]


def test_a_file_of_a_server_whose_clock_is_ahead_has_no_validator(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    info = os.stat(tmp_path / "a")
    assert entry_of("a", info, info.st_mtime_ns - 5_000_000_000).validator is None


def test_a_missing_root_cannot_be_listed_but_a_missing_folder_is_empty(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path / "none"))
    with pytest.raises(StorageError, match="cannot be listed: No such file"):
        listing(store)
    assert listing(store, "chunks/") == ([], [])


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_fails_the_listing(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(StorageError, match="closed: cannot be listed: Permission denied"):
        listing(LocalStore(str(tmp_path)))


def test_what_cannot_be_listed_fails_the_listing_after_all_the_rest(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.md").write_text("a")
    (tmp_path / "z.md").write_text("z")
    inner = os.open(tmp_path, os.O_RDONLY)
    for _ in range(25):  # a path longer than the system takes, which stops even root
        os.mkdir("d" * 200, dir_fd=inner)
        outer, inner = inner, os.open("d" * 200, os.O_RDONLY, dir_fd=inner)
        os.close(outer)
    os.close(inner)
    found: list[str] = []
    with pytest.raises(StorageError, match="cannot be listed: File name too long"):
        found.extend(path for page in LocalStore(str(tmp_path)).list() for path in page.paths)
    assert sorted(found) == ["folder/a.md", "z.md"]


def test_a_link_that_cannot_be_followed_is_not_taken_for_broken(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.md").symlink_to("x" * 300)
    for path in ("a.md", "folder/b.md", "z.md"):
        (tmp_path / path).write_text("z")
    found: list[str] = []
    with pytest.raises(StorageError, match=r"link\.md: cannot be listed: File name too long"):
        found.extend(path for page in LocalStore(str(tmp_path)).list() for path in page.paths)
    assert found == ["a.md", "folder/b.md", "z.md"]


def test_a_pipe_that_took_a_files_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    with pytest.raises(StorageError, match=r"a\.md: cannot be read: not a regular file"):
        LocalStore(str(tmp_path)).read("a.md")


def test_link_copies_where_it_cannot_link(tmp_path: Path) -> None:
    shared = Path("/dev/shm")
    if not shared.is_dir() or os.stat(shared).st_dev == os.stat(tmp_path).st_dev:
        pytest.skip("needs a second filesystem")
    source = shared / f"rechunk-test-{os.getpid()}"
    source.write_bytes(b"far away")
    try:
        disk.share(str(source), str(tmp_path / "deep" / "copy"))
        assert (tmp_path / "deep" / "copy").read_bytes() == b"far away"
        assert os.listdir(tmp_path / "deep") == ["copy"]
    finally:
        source.unlink()


def _race(root: str, rounds: int, name: str, barrier: object, wins: object) -> None:
    store = LocalStore(root)
    for number in range(rounds):
        barrier.wait()  # type: ignore[attr-defined]
        if store.create(f"log/{number}", name.encode() * 1000):
            wins.put((number, name))  # type: ignore[attr-defined]


def test_exactly_one_of_the_racing_processes_creates(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    rounds, names = 100, ["a", "b", "c"]
    barrier, wins = context.Barrier(len(names)), context.Queue()
    racers = [context.Process(target=_race, args=(str(tmp_path), rounds, name, barrier, wins)) for name in names]
    for racer in racers:
        racer.start()
    winners = dict(wins.get(timeout=60) for _ in range(rounds))
    for racer in racers:
        racer.join(60)
    assert wins.empty()
    assert len(winners) == rounds
    for number, name in winners.items():
        assert (tmp_path / "log" / str(number)).read_text() == name * 1000
    assert len(os.listdir(tmp_path / "log")) == rounds


def test_a_folder_shows_its_files_whatever_else_it_holds(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "inner/c.txt", "inner/.tmp-rechunk-0123456789abcdef", "inner/ü.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
        os.utime(tmp_path / name, (1_600_000_000, 1_600_000_000))
    time.sleep(0.03)
    os.utime(tmp_path / "b.txt", (int(time.time()), int(time.time())))  # whole seconds, too young to be trusted
    store = LocalStore(str(tmp_path))
    entries = {entry.path: entry for page in store.list() for entry in page.entries()}
    assert sorted(entries) == ["a.txt", "b.txt", "inner/c.txt", "inner/ü.txt"]
    info = os.stat(tmp_path / "a.txt")
    assert entries["a.txt"].validator == f"5-{info.st_mtime_ns}-{info.st_ctime_ns}-{info.st_ino}"
    assert entries["b.txt"].validator is None
    assert entries["inner/ü.txt"] == store.stat("inner/ü.txt")


def test_file_that_is_cut_while_it_is_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"x" * 1_000_000)
    read = os.read

    def read_and_cut(descriptor: int, size: int) -> bytes:
        found = read(descriptor, 1000)
        os.truncate(file, 500_000)
        return found

    monkeypatch.setattr("pipelines.storage.disk.os.read", read_and_cut)
    with pytest.raises(StorageError, match="ended after 500000 of 1000000 bytes"):
        LocalStore(str(tmp_path)).fetch("a.txt")


def test_opened_file_that_is_cut_never_just_ends(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"x" * 1_000_000)
    opened, entry = LocalStore(str(tmp_path)).opened("a.jsonl")
    with opened:
        assert len(opened.read(10)) == 10
        os.truncate(file, 500_000)
        with pytest.raises(OSError, match="ended after 500000 of 1000000 bytes: it was cut while it was read"):
            opened.read(entry.size)
    file.write_bytes(b"y" * 1000)
    opened, _ = LocalStore(str(tmp_path)).opened("a.jsonl")
    with opened, file.open("ab") as more:
        more.write(b"z" * 1000)  # what grows is no damage
        more.flush()
        assert opened.read() == b"y" * 1000 + b"z" * 1000
