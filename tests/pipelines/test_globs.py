"""Globs of the configuration: what each pattern matches, and what is refused."""

from __future__ import annotations

import pickle
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.globs import GlobError, Globs, compile_globs

MATCHES = [
    ("**", "a", True),
    ("**", "a/b/c.md", True),
    ("**", ".git/config", True),
    ("*", "a.md", True),
    ("*", ".hidden", True),
    ("*", "a/b", False),
    ("*.md", "a.md", True),
    ("*.md", ".md", True),
    ("*.md", "a/b.md", False),
    ("*.md", "a.MD", False),
    ("*.md", "a.mdx", False),
    ("**/*.md", "a.md", True),
    ("**/*.md", "a/b/c.md", True),
    ("**/*.md", "a/b/c.txt", False),
    ("**.md", "a/b.md", True),
    ("a/**", "a/b", True),
    ("a/**", "a/b/c", True),
    ("a/**", "a", False),
    ("a/**", "ab/c", False),
    ("a/**/b", "a/b", True),
    ("a/**/b", "a/x/b", True),
    ("a/**/b", "a/x/y/b", True),
    ("a/**/b", "a/xb", False),
    ("a**b", "a/x/b", True),
    ("a**b", "ab", True),
    ("**/.*", "x/.env", True),
    ("**/.*", "x/env", False),
    ("*a*b*", "xaxbx", True),
    ("*a*b*", "xbxax", False),
    ("*ab*ab", "ab-ab", True),
    ("*ab*ab", "ab", False),
    ("a*a", "a", False),
    ("?", "x", True),
    ("?", "", False),
    ("?", "/", False),
    ("?.md", "é.md", True),
    ("a?b", "a/b", False),
    ("[abc].md", "b.md", True),
    ("[abc].md", "d.md", False),
    ("[a-c].md", "b.md", True),
    ("[!a-c].md", "d.md", True),
    ("[!a-c].md", "b.md", False),
    ("[^a-c].md", "d.md", True),
    ("a[!x]b", "a/b", False),
    ("a[+-9]b", "a/b", False),
    ("a[+-9]b", "a5b", True),
    ("[]].md", "].md", True),
    ("[]-]x", "-x", True),
    ("[[]x", "[x", True),
    ("[{]x", "{x", True),
    ("[\\]x", "\\x", True),
    ("[*]", "*", True),
    ("[*]", "a", False),
    ("[+--]", ",", True),
    ("[a|&~-]", "~", True),
    ("a.b", "axb", False),
    ("a+(b)|c^$", "a+(b)|c^$", True),
    ("# 100%.md", "# 100%.md", True),
    ("文档/*.md", "文档/第一.md", True),
    ("a\nb*", "a\nbc", True),
    ("*", "a\nb", True),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), MATCHES)
def test_pattern_matches_the_whole_path_or_nothing(pattern: str, path: str, expected: bool) -> None:
    assert compile_globs([pattern]).matches(path) is expected


REFUSED = [
    ("", "is empty"),
    ("/a", "starts with '/'; patterns are relative to the source"),
    ("a/", "ends with '/'; write 'a/**' for everything in that folder"),
    ("a//b", "has an empty folder name ('//')"),
    ("./a", "has a '.' or '..' folder; patterns are relative to the source"),
    ("a/../b", "has a '.' or '..' folder; patterns are relative to the source"),
    ("***", "has more than two '*' in a row"),
    ("**/a/**/b/**/c/**/d/**", "has more than 4 '**'"),
    ("[abc", "has a '[' without a closing ']'; write '[[]' for a literal one"),
    ("[]", "has a '[' without a closing ']'; write '[[]' for a literal one"),
    ("[z-a]", "has the range 'z-a' the wrong way round"),
    ("*.{md,txt}", "has '{'; write one pattern per alternative, or '[{]' for a literal one"),
    ("a}", "has '}'; write one pattern per alternative, or '[}]' for a literal one"),
    ("a\\b", "has a backslash; folders are separated by '/', and '[\\]' is a literal backslash"),
]


@pytest.mark.parametrize(("pattern", "message"), REFUSED)
def test_pattern_that_would_mislead_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(GlobError) as caught:
        compile_globs([pattern])
    assert str(caught.value) == message


def test_first_is_the_first_pattern_that_matches() -> None:
    globs = compile_globs(["law/**", "**/*.md", "**"])
    assert [globs.first(path) for path in ("law/a.md", "x/a.md", "x/a.txt")] == [0, 1, 2]
    assert compile_globs(["a"]).first("b") is None


def test_no_pattern_matches_nothing() -> None:
    assert [Globs(()).matches(path) for path in ("", "a")] == [False, False]


def test_globs_pickle() -> None:
    globs = compile_globs(["a/**"])
    assert globs.matches("a/b")
    assert pickle.loads(pickle.dumps(globs)) == globs


@pytest.mark.parametrize("pattern", ["*a*a*a*a*a*a*a*a*b", "**/*a*a*a*a*/**/*b", "**a**a**a**b"])
def test_mismatch_of_a_long_path_stays_quick(pattern: str) -> None:
    globs = compile_globs([pattern])
    started = time.process_time()
    assert not globs.matches("a" * 200)
    assert time.process_time() - started < 1


def simple_match(pattern: str, path: str) -> bool:
    """The definition, as one backtracking expression without any of the shortcuts of the product."""
    expression = ""
    folders = pattern.split("/")
    for number, folder in enumerate(folders):
        last = number == len(folders) - 1
        if folder == "**":
            expression += (".+" if number else ".*") if last else "(.*/)?"
        else:
            pieces = re.findall(r"\*\*|\*|\?|.", folder)
            expression += "".join({"**": ".*", "*": "[^/]*", "?": "[^/]"}.get(each, re.escape(each)) for each in pieces)
            expression += "" if last else "/"
    return re.fullmatch(expression, path, re.DOTALL) is not None


names = st.text("ab*?", min_size=1, max_size=6).filter(lambda name: "***" not in name)
patterns = st.lists(names | st.just("**"), min_size=1, max_size=4).map("/".join).filter(lambda p: p.count("**") <= 4)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(pattern=patterns, path=st.text("ab/", min_size=1, max_size=12))
def test_shortcuts_agree_with_the_definition(pattern: str, path: str) -> None:
    assert compile_globs([pattern]).matches(path) is simple_match(pattern, path)
