"""What every strategy makes of the sample corpus, as one digest each, next to the versions that answer for it.

`python -m tests.chunkers.versions` writes digests.json anew, and refuses while a digest changed under an old version.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from chunkers import KERNEL_VERSION, DocumentError, build, strategy_kinds

FILE = Path(__file__).with_name("digests.json")
CORPUS = Path(__file__).parents[2] / "examples" / "corpus"
HOSTILE = [
    "",
    " \n\t ",
    "a" * 5000,
    "e\u0301" * 400,
    "🇹🇼" * 300,
    "早上下雨了。中午放晴。" * 60,
    "a\r\n\r\nb\r\n" * 200,
    "x \ud800 y " * 50,
    "第一章　總則\r\n第一條　本法依憲法制定。\n第二條之一\n（甲）略。\n２　前項。\nSection 3. Not one.\n" * 20,
    "Q: Why?\nA: So.\n\n**Q2. 問？**\n答：是。\n\n# Ask?\n\n<details><summary>How</summary>Thus.</details>\n" * 20,
    "@a\ndef f():\n    return '中'\n\n\nclass A:\n    # b\n    def g(self): ...\n\nx = [\n" * 20,
    '{"a": [1.0, {"b/c": "é\\ud83d\\ude00"}, [], "x"], "": null} ',
]
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "recursive": [
        {},
        {"max_size": 200, "overlap": 40},
        {"max_size": 90, "separators": ["\n", "。", " "], "overlap": 9},
    ],
    "character": [{}, {"max_size": 120, "separator": "\n"}],
    "fixed": [{"max_size": 150, "overlap": 30}],
    "token": [{"max_size": 64, "overlap": 8}],
    "sentence": [{"max_size": 300}, {"max_size": 120, "overlap": 60, "min_size": 20}],
    "markdown": [{"max_size": 300}, {"headers": [["#", "title"], ["##", "section"]], "max_size": 400, "overlap": 60}],
    "semantic-markdown": [{}, {"join_threshold": 60, "max_size": 600}],
    "pages": [{}, {"chunk_size": 300}, {"mode": "sentences"}],
    "latex": [{}, {"max_size": 300, "overlap": 60}],
    "html": [{}, {"max_size": 120, "overlap": 30}, {"sections": [["section", "a"], [".x", "b"]], "max_size": 200}],
    "json": [{}, {"max_size": 80, "min_size": 20}, {"max_size": 60, "ensure_ascii": True, "convert_lists": True}],
    "legal": [{}, {"max_size": 120, "overlap": 30}],
    "faq": [{}, {"max_size": 120, "overlap": 30}],
    "code": [{}, {"max_size": 200, "overlap": 40}, {"language": "python", "max_size": 120}],
    "custom": [{"chunker": "tests.chunkers.strategies.chunker_samples:paragraphs", "add_start_index": True}],
    "auto": [{"max_size": 500}, {"max_size": 500, "detect": True}],
}


def digests() -> dict[str, dict[str, Any]]:
    """For each strategy its version, the kernel's, and the digest of all spans, drops and metadata."""
    texts = [
        (path.name, path.read_bytes().decode("utf-8", "replace"))
        for path in sorted(CORPUS.rglob("*"))
        if path.is_file()
    ]
    texts += [("hostile.txt", text) for text in HOSTILE]
    found = {}
    for name, kind in sorted(strategy_kinds().items()):
        digest = hashlib.sha256()
        for options in OPTIONS[name]:
            strategy = build(name, **options)
            for path, text in texts:
                try:
                    split = strategy.split(text, path=path)
                except DocumentError as error:
                    digest.update(f"{type(error).__name__} at {error.position}".encode())
                    continue
                plain = [[tuple(span) for span in split.spans], [tuple(drop) for drop in split.drops], split.strategy]
                digest.update(
                    repr([plain, split.title, split.metadata, split.notes]).encode("utf-8", "backslashreplace")
                )
        found[name] = {"version": kind.version, "kernel": KERNEL_VERSION, "digest": digest.hexdigest()}
    return found


def unversioned(now: dict[str, dict[str, Any]], recorded: dict[str, dict[str, Any]]) -> list[str]:
    """The strategies whose output changed while neither their version nor the kernel's did."""
    return [
        name
        for name, made in now.items()
        if name in recorded
        and made["digest"] != recorded[name]["digest"]
        and made | {"digest": ""} == recorded[name] | {"digest": ""}
    ]


def main() -> int:
    """Write digests.json anew."""
    now = digests()
    changed = unversioned(now, json.loads(FILE.read_text())) if FILE.exists() else []
    if changed:
        print(f"raise the version of {', '.join(changed)} (or KERNEL_VERSION) first", file=sys.stderr)
        return 1
    FILE.write_text(json.dumps(now, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
