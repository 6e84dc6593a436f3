"""Stacks of two traces in one tree: each side weighs what it weighs alone, and nothing is joined that is not alike."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import clrevents
from clrevents.analysis.shared.samples.calltree import CallTree, call_tree, compare_stacks, summed_up
from clrevents.analysis.shared.samples.samples import Samples, read_samples
from clrevents.analysis.shared.weights.weighing import Weights
from hand_made import Row, hand_made
from project_files import fixture

Path = tuple[tuple[str, str], ...]


def by_path(samples: Samples, tree: CallTree, own: Weights) -> dict[Path, int]:
    """The weight of each node with all that it called, by the names and modules of its callers and its own."""
    paths: list[Path] = []
    for parent, place in zip(tree.parent.tolist(), tree.frame.tolist(), strict=True):
        frame = samples.frames[place]
        name = "nameless" if frame.reason else frame.name
        paths.append((*(paths[parent] if parent >= 0 else ()), (name, frame.module)))
    found = Counter[Path]()
    for path, weight in zip(paths, summed_up(tree.parent, own).tolist(), strict=True):
        found[path] += weight
    return dict(found)


def sides(after: Samples, before: Samples) -> dict[Path, tuple[int, int]]:
    """What each call weighs after and before."""
    compared = compare_stacks(after, before)
    assert len({*zip(compared.tree.parent.tolist(), compared.tree.frame.tolist(), strict=True)}) == len(compared.tree)
    assert compared.after.sum() == after.total
    assert compared.before.sum() == before.total
    assert (compared.tree.own == compared.after + compared.before).all()
    mine, other = (by_path(compared.samples, compared.tree, own) for own in (compared.after, compared.before))
    return {path: (mine[path], other[path]) for path in mine}


def test_two_recordings_each_weigh_what_their_own_trees_say() -> None:
    with clrevents.open(fixture("net10-convoy")) as one, clrevents.open(fixture("net10-starvation")) as other:
        after, before = read_samples(one), read_samples(other)
    assert (after.total, before.total) == (2_792_393_498, 36_848_864_399)
    found = sides(after, before)
    for samples, side in ((after, 0), (before, 1)):
        tree = call_tree(samples, merge_threads=True)
        alone = by_path(samples, tree, tree.own)
        assert {path: both[side] for path, both in found.items() if both[side]} == {
            path: weight for path, weight in alone.items() if weight
        }
    main = (("Scenarios.Main(string[])", "Scenarios"),)
    assert min(found[main]) > 0
    assert found[(*main, ("Scenarios.Convoy(Random)", "Scenarios"))][1] == 0


def test_addresses_are_alike_where_module_and_reason_are() -> None:
    """The same native code lies elsewhere in another process; a method of the same name in another module is not it."""
    reasons = {
        "[unresolved 0x10]": "not managed",
        "[unresolved 0x20]": "not managed",
        "[unresolved 0x30]": "no rundown",
    }
    after = hand_made([(1, 5, ("Main", "[unresolved 0x10]"), False), (1, 2, ("Main", "[unresolved 0x30]"), False)],
        reasons=reasons, modules={"Main": "App"})  # fmt: skip
    before = hand_made([(9, 7, ("Main", "[unresolved 0x20]"), False), (9, 1, ("Main",), False)], reasons=reasons,
        modules={"Main": "App"})  # fmt: skip
    compared = compare_stacks(after, before)
    nodes = [
        (compared.samples.frames[frame].name, compared.samples.frames[frame].reason) for frame in compared.tree.frame
    ]
    assert dict(zip(nodes, zip(compared.after, compared.before, strict=True), strict=True)) == {
        ("Main", None): (0, 1),
        ("[unresolved]", "not managed"): (5, 7),
        ("[unresolved]", "no rundown"): (2, 0),
    }
    elsewhere = hand_made([(1, 5, ("Main",), False)], modules={"Main": "Other"})
    assert sides(elsewhere, before)[(("Main", "Other"),)] == (5, 0)


def test_large_sums_do_not_wrap() -> None:
    huge = hand_made([(1, (1 << 63) - 1, ("a",), False)])
    compared = compare_stacks(huge, huge)
    assert compared.after.tolist() == compared.before.tolist() == [(1 << 63) - 1]
    assert compared.tree.own.tolist() == [float(np.float64(1 << 64))]


def test_other_units_are_refused() -> None:
    row: Row = (1, 5, ("a",), False)
    with pytest.raises(ValueError, match="weights in bytes cannot be compared with weights in count"):
        compare_stacks(hand_made([row], timed=False, unit="bytes"), hand_made([row], timed=False, unit="count"))
