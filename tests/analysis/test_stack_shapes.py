"""Groups, includes, excludes, folds and the program's own code: exact stacks, laws, and a model in plain Python."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.analysis.gathering.merged_stacks import FRAMEWORK_NAMES, StackFrame
from clrevents.analysis.shared.samples.samples import SampledThread, Samples

NAMES = ("Shop.Main", "Shop.Pay", "Shop.Tax", "Bank.Send", "System.IO.Write", "System.IO.Flush", "Lib.Log")
PATTERNS = ("Shop.*", "Pay", "System.*", "*.IO.*", "Bank.Send", "Lib.*", "*o*", "Nothing", "*")
RULES = ("System.*->BCL", "System.IO.*=>IO", "Shop.{*}->s$1", "Lib.*;", "*=>OTHER", "Shop.*->", "*ain->BCL")


def samples_of(*stacks: tuple[str, ...], weights: list[int] | None = None) -> Samples:
    """Samples of one thread, whose stacks are names, innermost first."""
    names = list(dict.fromkeys(name for stack in stacks for name in stack))
    known = {stack: n for n, stack in enumerate(dict.fromkeys(stacks))}
    sizes = [len(stack) for stack in known]
    return Samples(
        event="ThreadSample",
        unit="nanoseconds",
        timed=True,
        time_ns=np.arange(len(stacks)),
        thread=np.zeros(len(stacks), dtype=np.int64),
        weight=np.array(weights or [1] * len(stacks), dtype=np.int64),
        stack=np.array([known[stack] for stack in stacks], dtype=np.int64),
        offsets=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        values=np.array([names.index(name) for stack in known for name in stack], dtype=np.int64),
        threads=(SampledThread(1),),
        frames=tuple(StackFrame(f"{name}()", f"m!{name}()", "m") for name in names),
    )


def stacks_of(samples: Samples) -> list[tuple[tuple[str, ...], int]]:
    """Each sample's stack and weight."""
    stacks = [tuple(samples.frames[f].name for f in samples.frame_ids(s)) for s in range(len(samples.offsets) - 1)]
    return [(stacks[s], w) for s, w in zip(samples.stack.tolist(), samples.weight.tolist(), strict=True)]


BASE = samples_of(
    ("System.IO.Write", "Shop.Pay", "Shop.Main"),
    ("System.IO.Flush", "System.IO.Write", "Lib.Log", "Shop.Pay", "Shop.Main"),
    ("Shop.Pay", "Shop.Pay", "Shop.Main"),
    ("System.IO.Flush", "System.IO.Write"),
    weights=[1, 2, 4, 8],
)


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (
            {"fold": "System.*"},
            [
                (("Shop.Pay()", "Shop.Main()"), 1),
                (("Lib.Log()", "Shop.Pay()", "Shop.Main()"), 2),
                (("Shop.Pay()", "Shop.Pay()", "Shop.Main()"), 4),
                (("[folded]",), 8),
            ],
        ),
        (
            {"include": "Log", "fold": "Shop.*;Flush"},
            [(("System.IO.Write()", "Lib.Log()"), 2)],
        ),
        ({"include": "System.*;Main;Lib.*"}, [(stacks_of(BASE)[1])]),
        ({"exclude": "System.*"}, [(stacks_of(BASE)[2])]),
        (
            {"my_code": True},
            [
                (("Shop.Pay()", "Shop.Main()"), 1),
                (("Lib.Log()", "Shop.Pay()", "Shop.Main()"), 2),
                (("Shop.Pay()", "Shop.Pay()", "Shop.Main()"), 4),
                (("System.IO.Flush()",), 8),
            ],
        ),
        (
            {"group": "System.*->BCL;Shop.*=>SHOP"},
            [
                (("BCL", "SHOP <<Shop.Main()>>"), 1),
                (("BCL", "Lib.Log()", "SHOP <<Shop.Main()>>"), 2),
                (("SHOP <<Shop.Main()>>",), 4),
                (("BCL",), 8),
            ],
        ),
        (
            # Just my code, as PerfView has it.
            {"group": "Shop.*->;*=>OTHER", "exclude": "OTHER <<*Log"},
            [
                (("OTHER <<System.IO.Write()>>", "Shop.Pay()", "Shop.Main()"), 1),
                (("Shop.Pay()", "Shop.Pay()", "Shop.Main()"), 4),
                (("OTHER <<System.IO.Write()>>",), 8),
            ],
        ),
        # What a group is called is what patterns see; its members' names are gone.
        ({"group": "Shop.*->SHOP", "exclude": "Shop.Pay"}, None),
    ],
)
def test_stacks(asked: dict[str, Any], wanted: list[tuple[tuple[str, ...], int]] | None) -> None:
    found = stacks_of(BASE.shaped(**asked))
    if wanted is None:
        assert len(found) == 4
    else:
        assert found == wanted


def model(stack: tuple[str, ...], group: str | None, fold: str | None, my_code: bool) -> tuple[str, ...]:
    """The long way round: from the outermost frame inwards."""
    made: list[tuple[str, str | None]] = []
    for name in reversed(stack):
        member, shown = None, f"{name}()"
        for rule in (group or "").split(";"):
            left, arrow, right = rule.partition("=>") if "=>" in rule else rule.partition("->")
            plain = left.replace("{", "").replace("}", "")
            if arrow and (fnmatchcase(name, plain) or name == plain or name.endswith(f".{plain}")):
                member = right.replace("$1", name.removeprefix("Shop.")) or None
                shown = shown if member is None else f"{member} <<{name}()>>" if arrow == "=>" else member
                break
        if member is not None and made and made[-1][1] == member:
            continue
        made.append((shown, member))
    names = [shown for shown, _ in reversed(made)]
    if my_code:
        names = [name for name in names if not name.startswith(FRAMEWORK_NAMES)] or names[:1]
    if fold is not None:
        names = [name for name in names if not fits(name, fold)] or ["[folded]"]
    return tuple(names)


def fits(name: str, pattern: str) -> bool:
    plain = name.partition("(")[0]
    return fnmatchcase(plain, pattern) or plain.endswith(f".{pattern}")


STACKS = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6).map(tuple), min_size=1, max_size=12)
GROUPS = st.none() | st.lists(st.sampled_from([r for r in RULES if not r.endswith(";")]), min_size=1).map(";".join)


@given(STACKS, GROUPS, st.none() | st.sampled_from(PATTERNS), st.booleans())
def test_shapes_are_those_of_the_model(
    stacks: list[tuple[str, ...]], group: str | None, fold: str | None, my_code: bool
) -> None:
    samples = samples_of(*stacks, weights=list(range(1, len(stacks) + 1)))
    shaped = samples.shaped(group=group, fold=fold, my_code=my_code)
    wanted = [(model(stack, group, fold, my_code), weight) for weight, stack in enumerate(stacks, 1)]
    assert stacks_of(shaped) == wanted
    assert shaped.total == samples.total


@given(STACKS, st.sampled_from(PATTERNS), st.none() | st.sampled_from(PATTERNS))
def test_includes_and_excludes_partition(stacks: list[tuple[str, ...]], pattern: str, fold: str | None) -> None:
    samples = samples_of(*stacks)
    parts = [samples.shaped(include=pattern, fold=fold), samples.shaped(exclude=pattern, fold=fold)]
    assert Counter(stacks_of(parts[0])) + Counter(stacks_of(parts[1])) == Counter(stacks_of(samples.shaped(fold=fold)))
    held = [stack for stack in stacks if any(fits(name, pattern) for name in stack)]
    assert len(parts[0]) == len(held)
