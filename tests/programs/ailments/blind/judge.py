"""Holds what the doctor says of recordings against labels: judge.py FOLDER [--labels ../fresh/labels.json].

FOLDER is what record.py wrote. An ailment is found if a rule that stands for its kind found something; a culprit is
right if it is one of the label's. An impact is right if it is within 20 % of a quantity that the program itself knows
in that unit, if any; a bound that holds counts apart. In healthy programs and traps, each finding that the
label does not allow is false, but those about the recording or the machine. Prints one line for each recording that is
not as it should be, and the sums.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[3] / "tools"))
from judge_doctor import answers  # noqa: E402

LOCK = {"lock-contention", "lock-held-long", "reader-writer-lock"}
KINDS: dict[str, set[str]] = {
    "cpu.hot": {"hot-method", "hot-path", "costly-call", "one-core"},
    "cpu.spinning": {"spinning"},
    "cpu.compiling": {"slow-start", "runtime-code", "regex-construction"},
    "cpu.making": {"runtime-code", "regex-construction"},
    "cpu.awaiting": {"many-awaits"},
    "cpu.small_reads": {"small-reads"},
    "jit.startup": {"slow-start"},
    "startup.long": {"slow-start"},
    "jit.churn": {"runtime-code", "regex-construction"},
    "trace.stacks": {"deep-stacks"},
    "wait.turns": {"semaphore", "event-wait", "reader-writer-lock", "back-pressure", "lock-contention"},
    "wait.awaited": {"semaphore"},
    "wait.main": {"back-pressure", "network-wait", "hang", "event-wait"},
    "wait.polling": {"polling"},
    "wait.process": {"child-process"},
    "timer.often": {"timers"},
    "thread.brief": {"short-threads"},
    "lock.deadlock": {"deadlock"},
    "lock.standing": {"deadlock", "hang"},
    "lock.convoy": LOCK,
    "lock.waited": LOCK,
    "lock.sampled": LOCK,
    "pool.sync_over_async": {"sync-over-async", "pool-starvation"},
    "pool.starved": {"pool-starvation", "sync-over-async"},
    "pool.queue": {"task-flood", "pool-starvation"},
    "pool.flood": {"task-flood"},
    "pool.sleeping": {"pool-starvation", "polling"},
    "gc.growth": {"leak", "large-object-growth"},
    "gc.large_objects": {"large-object-churn", "large-object-growth"},
    "gc.pinned": {"pinning"},
    "gc.fragmented": {"pinning"},
    "gc.finalizing": {"slow-finalizers"},
    "gc.finalizers": {"slow-finalizers"},
    "gc.midlife": {"mid-life"},
    "gc.induced": {"induced-collections"},
    "gc.pause_ratio": {"gc-pauses", "mid-life", "induced-collections"},
    "gc.long_pause": {"gc-pauses", "mid-life"},
    "gc.full_blocking": {"gc-pauses", "induced-collections", "large-object-churn", "mid-life"},
    "alloc.one_site": {"allocation", "string-concatenation"},
    "alloc.strings": {"string-concatenation", "allocation"},
    "alloc.boxing": {"boxing", "allocation"},
    "alloc.closures": {"closures", "allocation"},
    "exceptions.rate": {"exceptions"},
    "exceptions.control_flow": {"exceptions"},
    "exceptions.slow": {"exceptions"},
}
"""The ailments that a rule stands for."""
BESIDE = {"cpu.contended", "cpu.limited", "trace.sampler", "trace.lost", "trace.cut", "trace.names"}
"""Rules about the recording, or about other programs on the machine."""


def is_culprit(method: str | None, label: str) -> bool:
    """Whether a method of a finding is the one of a label; state machines and lambdas count as their method."""
    kind, _, name = label.replace("`2", "").rpartition(".")
    spelled = re.sub(r"\(.*|\.lambda_.*|<\w+(,\w+)*>", "", method or "").replace("+", ".")
    return spelled.endswith(f"{kind.replace('+', '.')}.{name}") if spelled else False


def impact_of(row: dict[str, Any], label: dict[str, Any], numbers: dict[str, float]) -> str:
    """`right`, `bound`, or `wrong`; `unknown` where the program knows nothing in that unit."""
    unit = next(unit for unit in ("ns", "bytes", "count") if row[f"impact_{unit}"] is not None)
    said = row[f"impact_{unit}"] * (1e-9 if unit == "ns" else 1)
    kinds = {"ns": lambda of: re.match(r"s\b(?!hare)", of), "bytes": "bytes".__eq__}
    fits = kinds.get(unit, lambda of: not re.match(r"s\b|share|bytes", of))
    truths = [numbers[one["number"]] for one in label["quantities"] if fits(one["unit"]) and one["number"] in numbers]
    truths += [numbers["gc_pause_s"]] if unit == "ns" and row["rule"].startswith("gc.") else []
    if not truths:
        return "unknown"
    if any(abs(said - truth) <= 0.2 * truth for truth in truths):
        return "right"
    holds = (row["at_least"] and said <= max(truths)) or (row["at_most"] and said >= min(truths))
    return "bound" if holds else "wrong"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--labels", type=Path, default=HERE / "labels.json")
    chosen = parser.parse_args()
    folder: Path = chosen.folder
    families: dict[str, Any] = json.loads(chosen.labels.read_text(encoding="utf-8"))["families"]
    sick = hit = right = well = false = 0
    impacts: Counter[str] = Counter()
    for name, rows in answers(sorted(folder.glob("*.nettrace"))).items():
        trace = Path(name)
        family, variant, _ = trace.stem.rsplit("-", 2)
        label = families[family]
        asked = label["ailment"]
        wanted = {asked} if isinstance(asked, str) else set(asked)
        allowed = set(label[variant].get("may_be_said") or ())
        said = [row for row in rows if row["state"] == "found" and row["rule"] not in BESIDE]
        words = "; ".join("{rule}: {title} ({culprit})".format(**row) for row in said) or "nothing"
        if variant == "sick":
            sick += 1
            meant = [row for row in said if KINDS.get(row["rule"], set()) & wanted]
            hit += bool(meant)
            named = any(is_culprit(row["culprit"], one) for row in meant for one in label["sick"]["culprits"])
            right += named
            if meant:
                numbers = json.loads((folder / f"{trace.stem}.json").read_text(encoding="utf-8"))["numbers"]
                numbers |= {f"{name[:-3]}_s": ns / 1e9 for name, ns in numbers.items() if name.endswith("_ns")}
                impacts[impact := impact_of(meant[0], label["sick"], numbers)] += 1
                if impact != "right":
                    print(f"impact {trace.stem}: {impact}; said {meant[0]['rule']}: {meant[0]['title']}")
            if not meant or not named:
                what = "culprit" if meant else "missed"
                print(f"{what} {trace.stem}: {asked} in {', '.join(label['sick']['culprits'])}; said {words}")
        else:
            well += 1
            wrong = [row for row in said if not KINDS.get(row["rule"], set()) & allowed]
            false += bool(wrong)
            if wrong:
                print(f"false {trace.stem}: {label[variant]['conclusion']} Said {words}")
    print(f"impacts: {', '.join(f'{impacts[name]} {name}' for name in ('right', 'bound', 'wrong', 'unknown'))}")
    print(f"found {hit} of {sick}, culprits {right} of {hit}, false findings in {false} of {well}")


if __name__ == "__main__":
    main()
