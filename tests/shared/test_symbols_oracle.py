"""Names of frames against the official decoder's, and lifetimes and IL offsets on real traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from shared_files import SHARED, Shared, json_lines, needs_shared, params, traces, unpacked, with_stacks

import clrevents
from clrevents.symbols.display_names import raw_name
from reading import event_batches

# Distinct stacks and their frames; every one of them agrees.
EXPECTED = {
    "net10-cpu": (151, 2_475),
    "net8-cpu": (133, 2_425),
    "net10-cpu-11": (255, 3_319),
    "net10-states-11": (302, 3_650),
}


@pytest.mark.parametrize("trace", params(with_stacks()))
def test_every_frame_has_the_name_that_the_official_decoder_gives_it(
    trace: Shared, record_property: Callable[[str, object], None]
) -> None:
    """By the address at the time of each event that has the stack; frames without a name there have none here."""
    methods = clrevents.open(unpacked(trace)).methods
    stacks: dict[int, list[tuple[str, str, str]]] = {}
    frames = 0
    compared: set[int] = set()
    differ: Counter[tuple[object, ...]] = Counter()
    for line in json_lines(trace.beside(".stacks.jsonl.gz")):
        if isinstance(line, dict):
            stacks[line["stack"]] = line["frames"]
            continue
        _, _, ms, _, number = line
        stack = stacks[number]
        addresses = tuple(int(address, 16) for address, *_ in stack)
        ours = methods.frames(addresses, round(ms * 1e6))
        assert len(ours) == len(stack)
        for frame, (_, module, name) in zip(ours, stack, strict=True):
            text = raw_name(frame.namespace, frame.name, frame.signature) if frame.resolved else ""
            # It writes the module's name in small letters in one of the traces, whose events have the file's name.
            if text != name or (name and frame.module.lower() != module.lower()):
                differ[frame.address, frame.reason, text, frame.module, name, module] += 1
        if number not in compared:
            compared.add(number)
            frames += len(stack)
    assert not differ, differ.most_common(5)
    assert (len(compared), frames) == EXPECTED[trace.short]
    record_property("frames", frames)


@needs_shared
def test_unloaded_methods_stop_resolving_at_their_unload() -> None:
    """12 dynamic methods with an unload of their own, and 4 of a plugin that was unloaded with its module."""
    trace = clrevents.open(SHARED / "traces/own/net8-unload-verbose.nettrace.gz")
    methods = trace.methods
    loaded = {e.payload.MethodStartAddress: e for e in trace.events("MethodLoadVerbose")}
    unloaded = {e.payload.MethodStartAddress: e.time_ns for e in trace.events("MethodUnloadVerbose")}
    assert len(unloaded) == 12
    for address, end in unloaded.items():
        event = loaded[address]
        name = event.payload.MethodName
        times = (event.time_ns, end - 1, end, trace.duration_ns)
        found = [methods.at(address + 4, time) for time in times]
        assert [f.name for f in found] == [name, name, "", ""]
        assert [f.reason for f in found[2:]] == ["unloaded", "unloaded"]
    plugin = [m for m in methods if m.module == "Plugin"]
    assert [m.name for m in plugin] == ["Run"] * 4
    ends = [e.time_ns for e in trace.events("ModuleUnload") if e.payload.ModuleILPath == "/app/Plugin.dll"]
    assert [m.end_ns for m in sorted(plugin, key=lambda m: m.end_ns or 0)] == ends
    for method in plugin:
        assert method.end_ns is not None
        assert methods.at(method.address, method.end_ns - 1).module == "Plugin"
        assert methods.at(method.address, method.end_ns).reason == "unloaded"


@pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
@pytest.mark.parametrize("trace", params([t for t in traces("traces/own", "scenarios") if "heap" not in t.name]))
def test_managed_frames_have_names(trace: Shared) -> None:
    """One code address in a hundred at most has no name, and says that it is no listed method.

    Addresses are counted and not frames: a trace of few stacks may have the same native frame in most of them.
    """
    opened = clrevents.open(unpacked(trace), errors="salvage")
    reasons: dict[int, set[str | None]] = {}
    for batch in event_batches(opened, decode=False):
        seen: set[int] = set()
        for event in batch:
            if event.stack_id > 0 and event.stack_id not in seen:
                seen.add(event.stack_id)
                for frame in event.frames:
                    reasons.setdefault(frame.address, set()).add(frame.reason)
    found = set().union(*reasons.values())
    assert found <= {None, "not managed", "no rundown"}
    assert ("no rundown" in found) == (trace.short == "net8-killed")
    unnamed = [address for address, why in reasons.items() if why != {None}]
    assert reasons
    assert len(unnamed) <= max(1, len(reasons) // 100), (len(unnamed), len(reasons))


@pytest.mark.parametrize("short", ["net8-all", "net10-all"])
@needs_shared
def test_il_offsets_are_inside_the_methods(short: str) -> None:
    """Below the IL size that the JIT was given, wherever the JIT's event says one."""
    trace = clrevents.open(SHARED / f"traces/own/{short}.nettrace.gz")
    sizes: dict[tuple[str, str, str], int] = {}
    for event in trace.events("MethodJittingStarted"):
        p = event.payload
        sizes[p.MethodNamespace, p.MethodName, p.MethodSignature] = p.MethodILSize
    found = set()
    for batch in event_batches(trace, decode=False):
        for event in batch:
            for frame in event.frames:
                size = sizes.get((frame.namespace, frame.name, frame.signature))
                if frame.il_offset is not None and size is not None:
                    assert frame.il_offset < size, frame
                    found.add(frame.address)
    assert len(found) >= 200
