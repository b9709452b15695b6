"""A configuration file as a `Config`: read strictly, checked whole, before anything else is touched."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from chunkers.measure.tokens import ENCODINGS
from pipelines.config import addresses
from pipelines.config.engine import read_engine
from pipelines.config.model import (
    METADATA_VALUES,
    MIB,
    SNAPSHOTS,
    TASK_BYTES,
    Budget,
    Config,
    Gates,
    Guard,
    Hidden,
    Limits,
    Output,
    Rule,
    Source,
    Tokens,
)
from pipelines.config.reader import Section, keys_of
from pipelines.config.rules import read_chunking
from pipelines.config.sources import read_address, read_sources
from pipelines.config.tree import KeyPath, Tree, parse, show
from pipelines.errors import ConfigError
from pipelines.globs import compile_globs
from pipelines.storage.protocols import holds_tables, unknown_option
from pipelines.table.layout import check_address

TOP_KEYS = (
    *("name", "source", "chunking", "tokens", "output", "limits", "guard", "gates", "storage", "beam"),
    "metadata_values",
)
FILE_OPTIONS = ("follow_links",)
MIN_TASK_BYTES = 1024
MAX_TASK_BYTES = 512 * MIB
MAX_BYTES = 1024 * MIB
"""Arrow's strings, and what a task holds of a document at once, set this limit to the limit."""


def load_config(path: str | os.PathLike[str], environment: Mapping[str, str] | None = None) -> Config:
    """Read and check the configuration at `path`: a local one, or an address in an object store.

    A configuration in a store is reached with what the environment says, as it cannot say how to reach itself.
    `environment` (default: the process's) gives the variables of `${NAME}` in addresses. Every refusal is a ConfigError
    that names file, line and key of all that is wrong; strategies are built once, so wrong options are found here and
    not in the run.
    """
    file = os.fspath(path)
    return config_from(parse(_read(file), file), os.environ if environment is None else environment)


def _read(file: str) -> bytes:
    try:
        if "://" not in file:
            return Path(file).read_bytes()
        from pipelines.storage.single import read_object  # imports that local configurations do not wait for

        return read_object(file)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", file=file) from None


def config_from(tree: Tree, environment: Mapping[str, str]) -> Config:
    """The configuration in a parsed file."""
    if tree.root is None:
        raise ConfigError("is empty; it needs at least the keys source and output", file=tree.file)
    top = Section(tree, (), tree.root, TOP_KEYS)
    _note_misplaced_variables(tree)
    notes: list[str] = []
    attempt = tree.attempt
    sources: tuple[Source, ...] = attempt(lambda: read_sources(top, environment), ())
    output = attempt(lambda: _output(top, environment, notes), Output(path=""))
    if tree.is_sound("source", "output"):
        attempt(lambda: _refuse_overlap(tree, sources, output), None)
        attempt(lambda: _refuse_repetition(tree, sources), None)
    chunking: tuple[Rule, tuple[Rule, ...]] = (Rule(strategy="auto"), ())
    default, rules = attempt(lambda: read_chunking(top, notes), chunking)
    config = Config(
        name=top.text("name", Path(tree.file).stem),
        sources=sources,
        default=default,
        rules=rules,
        tokens=attempt(lambda: _tokens(top), None),
        output=output,
        limits=attempt(lambda: _limits(top), Budget()),
        guard=attempt(lambda: _guard(top), Guard()),
        gates=attempt(lambda: _gates(top), None),
        storage=attempt(lambda: _storage(top, sources, output), Hidden()),
        beam=attempt(lambda: read_engine(top), Hidden()),
        metadata_values=top.choice("metadata_values", METADATA_VALUES, "typed"),
        warnings=tuple(notes),
    )
    tree.refuse()
    return config


def _tokens(top: Section) -> Tokens | None:
    if top.values.get("tokens") is None:
        return None
    section = top.section("tokens", keys_of(Tokens))
    return Tokens(encoding_name=section.choice("encoding_name", ENCODINGS))


def _output(top: Section, environment: Mapping[str, str], notes: list[str]) -> Output:
    if not top.has("output"):
        raise top.tree.error((), "the key 'output' is missing; output.path is the folder of the table")
    section = top.section("output", keys_of(Output))
    if section.values.get("snapshot") == "referenced":
        raise section.error("snapshot", "is 'referenced', which this version does not write yet; it must be folder")
    path = read_address(section, "path", environment)
    protocol = addresses.protocol_of(path)
    if not holds_tables(protocol):
        raise section.error(
            "path", f"is on {protocol}://; tables are kept on a disk, s3, gs and az, which create an object only once"
        )
    if "%" in path:
        raise section.error(
            "path", f"is {show(path)}; a table's address cannot hold '%': readers decode it differently"
        )
    odd = check_address(path)
    if odd:
        place = f"{top.tree.file}:{top.tree.line(('output', 'path'))}"
        notes.append(
            f"{place}: output.path has {odd!r} in it; some readers of Delta tables cannot open such an address"
        )
    return Output(
        path=path,
        snapshot=section.choice("snapshot", SNAPSHOTS, "folder"),
        task_bytes=section.size("task_bytes", TASK_BYTES, at_least=MIN_TASK_BYTES, at_most=MAX_TASK_BYTES),
    )


def _limits(top: Section) -> Budget:
    if not top.has("limits"):
        return Budget()
    section = top.section("limits", keys_of(Budget))
    usual = Budget()
    return Budget(
        max_bytes=section.size("max_bytes", usual.max_bytes, at_least=1024, at_most=MAX_BYTES),
        max_chunks=section.whole("max_chunks", usual.max_chunks, at_least=1),
        work=None if section.get("work", None) is None else section.whole("work", 0, at_least=1),
        seconds=section.positive("seconds", usual.seconds),
        max_ratio=section.whole("max_ratio", usual.max_ratio, at_least=1),
    )


def _guard(top: Section) -> Guard:
    if not top.has("guard"):
        return Guard()
    section = top.section("guard", keys_of(Guard))
    usual = Guard()
    return Guard(
        documents=section.whole("documents", usual.documents, at_least=0),
        percent=section.percent("percent", usual.percent),
    )


def _gates(top: Section) -> Gates | None:
    if not top.has("gates"):
        return None
    section = top.section("gates", keys_of(Gates))
    inner = section.section("failed_documents", keys_of(Limits))
    limits = Limits(soft=inner.share("soft"), hard=inner.share("hard"))
    if not top.tree.is_sound("gates"):
        return None
    if limits.soft is None and limits.hard is None:
        raise section.error("failed_documents", "sets no limit; it must have soft, hard or both")
    if limits.soft is not None and limits.hard is not None and limits.soft >= limits.hard:
        raise inner.error("soft", f"is {limits.soft:g}% but hard is {limits.hard:g}%; soft must be below hard")
    return Gates(failed_documents=limits)


def _storage(top: Section, sources: tuple[Source, ...], output: Output) -> Hidden:
    if not top.has("storage"):
        return Hidden()
    used = sorted({addresses.protocol_of(address) for address in (*(source.path for source in sources), output.path)})
    value = top.values["storage"]
    if not isinstance(value, dict):
        raise top.error(
            "storage",
            f"is {'a list' if isinstance(value, list) else 'a plain value'}; "
            "it must map protocols (s3, gs, …) to their options",
        )
    for protocol, options in value.items():
        path: KeyPath = ("storage", protocol)
        if not top.tree.is_sound("source", "output"):
            break
        if protocol not in used:
            raise top.tree.error(path, f"is not the protocol of any address here; addresses use: {', '.join(used)}")
        if not isinstance(options, dict):
            raise top.tree.error(path, "must be a mapping of fsspec options")
        if protocol == "file":
            Section(top.tree, path, options, FILE_OPTIONS).flag("follow_links", default=True)
        elif options and (unknown := unknown_option(protocol, options)):
            raise top.tree.error((*path, unknown[0]), unknown[1])
    return Hidden(value)


def _note_misplaced_variables(tree: Tree) -> None:
    """`${NAME}` outside an address would be taken literally, in `storage` with a confusing login failure."""
    for path, value in tree.walk():
        if path[-1:] == ("path",) or path[:1] == ("chunking",) or not isinstance(value, str):
            continue
        if re.search(r"\$\{", value):
            hint = "; let fsspec's own environment variables carry credentials" if path[:1] == ("storage",) else ""
            tree.note(tree.error(path, f"has ${{…}}, which is expanded in addresses (path) only{hint}"))


def _refuse_overlap(tree: Tree, sources: tuple[Source, ...], output: Output) -> None:
    """Neither may the table be read as documents, nor may it be written over them."""
    for number, source in enumerate(sources):
        inside = addresses.below(output.path, source.path)
        if inside == "":
            raise tree.error(
                ("output", "path"),
                f"is {show(output.path)}, the folder of source[{number}]; the table needs a folder of its own",
            )
        if inside is not None and not _excludes(source, inside):
            raise tree.error(
                ("output", "path"),
                f"is {show(output.path)}, inside source[{number}] ({show(source.path)}), so the next run would "
                f"read the table as documents; move it, or add {show(inside + '/**')} to "
                f"source[{number}].exclude",
            )
        if addresses.below(source.path, output.path):
            raise tree.error(
                ("source", number, "path"),
                f"is {show(source.path)}, inside output.path ({show(output.path)}); "
                "documents may not lie in the table's folder",
            )


def _refuse_repetition(tree: Tree, sources: tuple[Source, ...]) -> None:
    """Every document of a source that is there twice would be a failure: its id is that of the first."""
    first: dict[tuple[object, ...], int] = {}
    for number, source in enumerate(sources):
        takes = (source.path.rstrip("/"), source.include, source.exclude, source.id_prefix)
        if (earlier := first.setdefault(takes, number)) != number:
            raise tree.error(
                ("source", number, "path"),
                f"is {show(source.path)}, of which source[{earlier}] takes the same documents under the same ids; "
                "remove one, or give one an id_prefix",
            )


def _excludes(source: Source, folder: str) -> bool:
    """Whether `exclude` covers everything below `folder` of the source."""
    excluded = compile_globs(source.exclude)
    return excluded.matches(f"{folder}/chunks/x/part-0.parquet") and excluded.matches(f"{folder}/runs/x.json")
