"""Patterns for names of methods: what they match, what they capture, and which are refused."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.analysis.gathering.merged_stacks import StackFrame
from clrevents.analysis.shared.samples.stack_shapes import NamePattern, group_rules, matched, name_patterns

PAY = StackFrame("Shop.Cart<T>.Pay(int[])", "app!Shop.Cart`1[System.__Canon].Pay(int32[])", "app")


@pytest.mark.parametrize(
    "text",
    [
        *("Pay", "Cart<T>.Pay", "Shop.Cart<T>.Pay", "Shop.*", "*Pay", "*.Cart<?>.Pay", "*"),
        *("Pay(int[])", "*(int*)", "Shop.Cart`1[System.__Canon].Pay", "*[System.__Canon].Pay", "Pay(int32[])"),
        *("app!*", "app!Shop.Cart<T>.Pay", "*!*Pay", "a??!Shop.*", "app!Shop.*(int32[])", "*a*a*.*"),
    ],
)
def test_what_matches(text: str) -> None:
    assert matched(name_patterns("fold", text), PAY)


@pytest.mark.parametrize(
    "text",
    ["ay", "Cart", "pay", "Shop", "Shop.", "Cart<T>.*", "?Pay", "Pay(", "Pay()", "lib!*", "app!Pay", "*Pa", "Pay*y"],
)
def test_what_does_not_match(text: str) -> None:
    assert not matched(name_patterns("fold", text), PAY)


def test_a_list_of_patterns() -> None:
    assert [p.text for p in name_patterns("fold", " A.* ; B ;C!*")] == ["A.*", "B", "C!*"]
    assert name_patterns("fold", None) == ()
    assert matched(name_patterns("fold", "Nothing;Pay"), PAY)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Pay->paying", "paying"),
        ("{*}!*->module $1", "module app"),
        ("{*}.{*}.*=>$2 of $1", "Cart<T> of Shop"),
        ("Shop.{C*}->$1$1", "Cart<T>.PayCart<T>.Pay"),
        ("{Shop}.{Cart<{?}>}.Pay->$1,$2,$3", "Shop,Cart<T>,T"),
        ("{}Pay->[$1]", "[]"),
        ("Pay->;*->rest", None),
        ("Sell->;*->rest", "rest"),
        ("Sell->x;*Pay->y;*->z", "y"),
    ],
)
def test_groups(text: str, wanted: str | None) -> None:
    names = (rule.group(PAY) for rule in group_rules("group", text))
    assert next((name for name in names if name is not None), None) == (wanted or "")


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("fold", "", "fold has an empty pattern: ''"),
        ("include", "A;;B", "include has an empty pattern: 'A;;B'"),
        ("exclude", "A->B", "exclude takes patterns, but 'A->B' names a group"),
        ("group", "A", "group takes PATTERN->NAME or PATTERN=>NAME, not 'A'"),
        ("group", "->B", "group has an empty pattern: '->B'"),
        ("group", "{A->B", "group has an unmatched opening brace: '{A->B'"),
        ("group", "A}->B", "group has an unmatched closing brace: 'A}->B'"),
        ("group", "{A}->$2", "group has no braces for $2: '{A}->$2'"),
        ("group", "{A}->$0", "group has no braces for $0: '{A}->$0'"),
        ("group", "{}" * 10 + "A->B", f"group has more than 9 pairs of braces: {'{}' * 10 + 'A->B'!r}"),
    ],
)
def test_what_is_refused(option: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        group_rules(option, text) if option == "group" else name_patterns(option, text)


@given(st.text("ab.*?", min_size=1), st.text("ab.", max_size=12))
def test_wildcards_are_those_of_the_shell(pattern: str, name: str) -> None:
    found = NamePattern(pattern).match_text(name) is not None
    whole = "*" in pattern or "?" in pattern
    assert found == (fnmatchcase(name, pattern) if whole else f".{name}".endswith(f".{pattern}"))


@given(st.text("ab*?", min_size=1, max_size=8), st.text("ab", max_size=10), st.data())
def test_captures_put_together_are_the_name(pattern: str, name: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(pattern)))
    found = NamePattern(pattern, ((0, cut), (cut, len(pattern)))).match_text(name)
    if found is not None and ("*" in pattern or "?" in pattern):
        assert "".join(found) == name
        assert fnmatchcase(found[0], pattern[:cut])
        assert fnmatchcase(found[1], pattern[cut:])


def test_stars_do_not_multiply_the_time() -> None:
    """A name that almost matches at every place, for forty stars: a matcher that tries all ways would not end."""
    assert NamePattern("*a" * 40 + "b").match_text("a" * 4000) is None
