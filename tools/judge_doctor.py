"""Judges `clrevents doctor` by recordings whose truth is known: judge_doctor.py FOLDER… [--answers FILE].

A folder holds traces beside `….truth.json`: those of `tests/programs/ailments` (FAMILY-MODE-RUNTIME) and scenarios
(RUNTIME-STORY-SEED). What must be found, and what else may rightly be found, is in `labels.json` beside the programs.
Prints a table of the rules, and each miss, wrong culprit, wrong impact and false finding. Findings that a label allows
besides (a convoy's waits are also long) count neither way, and so do pauses that the program's own clock saw, and
ailments that turned out not to be there (`absent`, with the reason). A trace in a later folder replaces one of the same
name.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import clrevents

ROOT: Final = Path(__file__).resolve().parents[1]
LABELS: Final = ROOT / "tests" / "programs" / "ailments" / "labels.json"
TOLERANCE: Final = 0.2
Label = dict[str, Any]


def labelled(folder: Path, labels: Label) -> Iterator[tuple[Path, str, Label, dict[str, Any]]]:
    """Each trace with its kind (sick, healthy, trap), its label, and what the program says."""
    for path in sorted(folder.glob("*.nettrace.gz")):
        parts = path.name.split(".")[0].split("-")
        machine = path.name.endswith(".linux.nettrace.gz")
        truth_of = path.with_name(f"{'-'.join(parts)}.truth.json")
        truth = json.loads(truth_of.read_text() or "{}") if truth_of.exists() else {}
        if parts[0] in labels["programs"]:
            family, mode, runtime = parts
            modes = labels["programs"][family]
            label, kind = modes.get(f"{mode}@{runtime}", modes.get(mode, {})), mode
        else:
            runtime, story = parts[:2]
            stories = labels["scenarios"]
            label = stories.get(f"{story}@{runtime}", stories.get(story, {}))
            kind = "sick" if label.get("find") else "trap"
        if machine:
            # The machine's recording has other events: what the runtime's say is not required of it.
            also = [*label.get("also", ()), *label.get("find", ()), *labels["machine"]["also"]]
            label, kind = {"also": also}, "trap"
        yield path, kind, label, truth


def clocked(truth: dict[str, Any]) -> set[str]:
    """What may be found because the program's own clock saw it."""
    facts = truth.get("facts", {})
    long = facts.get("paused_ns", 0) >= 0.05 * facts.get("elapsed_ns", 1)
    # The runtime's clock leaves out what it took to stop the threads.
    longest = facts.get("longest_pause_ns", 0) >= (1 - TOLERANCE) * 200e6
    return {rule for rule, seen in (("gc.pause_ratio", long), ("gc.long_pause", longest)) if seen}


def answers(paths: list[Path]) -> dict[str, list[dict[str, Any]]]:
    """What doctor says of each trace, by the names of the files."""
    found: dict[str, list[dict[str, Any]]] = {path.name: [] for path in paths}
    with clrevents.open_many(list(map(str, paths)), errors="salvage") as traces:
        for row in traces.doctor().rows():
            found[Path(row["trace"]).name].append(row)
    return found


def impact_is(finding: dict[str, Any], wanted: dict[str, str], truth: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Unit → (found, true), for each unit that both know."""
    known = {**truth.get("facts", {}), **{name: value for name, value in truth.items() if name != "facts"}}
    pairs = {unit: (finding.get(f"impact_{unit}"), known.get(name)) for unit, name in wanted.items()}
    return {unit: (float(f), float(t)) for unit, (f, t) in pairs.items() if f is not None and t is not None}


def judged(
    rows: list[tuple[Path, str, Label, dict[str, Any], list[dict[str, Any]]]],
) -> tuple[dict[str, Any], list[str]]:
    tally: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    remarks = []
    for path, kind, label, truth, findings in rows:
        name = path.name.removesuffix(".nettrace.gz")
        absent = label.get("absent", {})
        remarks += [f"ABSENT   {rule:24} {name}: {why}" for rule, why in absent.items()]
        wanted = {rule: want for rule, want in label.get("find", {}).items() if rule not in absent}
        states: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for finding in findings:
            states[finding["rule"]].append(finding)
        for rule, want in wanted.items():
            count = tally[rule]
            count["planted"] += 1
            of_rule = states.get(rule, [])
            found = [one for one in of_rule if one["state"] == "found"]
            if not found:
                state = of_rule[0]["state"] if of_rule else "absent"
                count["unknown" if state == "cannot tell" else "missed"] += 1
                remarks.append(f"MISSED   {rule:24} {name}: {state}")
                continue
            count["found"] += 1
            if want["culprit"]:
                count["culprits"] += 1
                said = [str(one.get("culprit")) for one in found]
                if any(text in one for one in said for text in want["culprit"]):
                    count["right_culprit"] += 1
                else:
                    remarks.append(f"CULPRIT  {rule:24} {name}: {said[0]}, is {want['culprit'][0]}")
            impacts = impact_is(found[0], want["impact"], truth)
            if impacts:
                count["impacts"] += 1
                off = {u: (f, t) for u, (f, t) in impacts.items() if abs(f - t) > TOLERANCE * abs(t)}
                if off and found[0].get("at_least") and all(f <= t for f, t in off.values()):
                    # It does not claim to be all.
                    remarks += [
                        f"BOUND    {rule:24} {name}: at least {f:,.0f} {unit}, is {t:,.0f}"
                        for unit, (f, t) in off.items()
                    ]
                    count["impacts"] -= 1
                    continue
                count["right_impact"] += not off
                for unit, (f, t) in off.items():
                    ratio = f"{f / t - 1:+.0%}" if t else "of nothing"
                    remarks.append(f"IMPACT   {rule:24} {name}: {f:,.0f} {unit}, is {t:,.0f} ({ratio})")
        for rule, of_rule in states.items():
            count = tally[rule]
            count[f"told_{kind}"] += any(one["state"] != "cannot tell" for one in of_rule)
            count["cannot_tell"] += all(one["state"] == "cannot tell" for one in of_rule)
            found = [one for one in of_rule if one["state"] not in ("clear", "cannot tell")]
            if not found or rule in wanted:
                continue
            if rule in label.get("also", ()) or rule in clocked(truth) or rule in absent:
                count["besides"] += 1
                continue
            count[f"false_{kind}"] += 1
            impact = {u: found[0].get(f"impact_{u}") for u in ("ns", "bytes", "count") if found[0].get(f"impact_{u}")}
            remarks.append(f"FALSE    {rule:24} {name}: {found[0]['title']} [{found[0].get('culprit')}] {impact}")
    return tally, sorted(remarks)


COLUMNS: Final = (
    ("planted", lambda c: c["planted"]),
    ("found", lambda c: c["found"]),
    ("cannot", lambda c: c["unknown"]),
    ("culprit", lambda c: f"{c['right_culprit']}/{c['culprits']}" if c["culprits"] else "-"),
    ("impact", lambda c: f"{c['right_impact']}/{c['impacts']}" if c["impacts"] else "-"),
    ("false:healthy", lambda c: f"{c['false_healthy']}/{c['told_healthy']}"),
    ("trap", lambda c: f"{c['false_trap']}/{c['told_trap']}"),
    ("sick", lambda c: f"{c['false_sick']}/{c['told_sick']}"),
    ("besides", lambda c: c["besides"]),
    ("precision", lambda c: share(c["found"], c["found"] + false(c))),
    ("recall", lambda c: share(c["found"], c["planted"])),
)


def false(c: dict[str, int]) -> int:
    return c["false_healthy"] + c["false_trap"] + c["false_sick"]


def share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "-"


def table(tally: dict[str, Any]) -> str:
    total: dict[str, int] = defaultdict(int)
    for count in tally.values():
        for name, value in count.items():
            total[name] += value
    lines = ["| rule | " + " | ".join(name for name, _ in COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for rule, count in [*sorted(tally.items()), ("**all**", total)]:
        lines.append(f"| {rule} | " + " | ".join(str(value(count)) for _, value in COLUMNS) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--answers", type=Path, help="Keep what doctor said in this file, or read it if it is there.")
    asked_for = parser.parse_args()
    labels = json.loads(LABELS.read_text())
    traces = [*{one[0].name: one for folder in asked_for.folders for one in labelled(folder, labels)}.values()]
    if asked_for.answers and asked_for.answers.exists():
        said = json.loads(asked_for.answers.read_text())
    else:
        said = answers([path for path, *_ in traces])
        if asked_for.answers:
            asked_for.answers.write_text(json.dumps(said))
    tally, remarks = judged([(*trace, said[trace[0].name]) for trace in traces])
    kinds = [kind for _, kind, _, _ in traces]
    print(f"{len(traces)} traces: " + ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("sick", "healthy", "trap")))
    print(f"\n{table(tally)}\n")
    print("\n".join(remarks))


if __name__ == "__main__":
    main()
