"""The programs of others that our files are for: speedscope in a browser, and a decoder of pprof.

What they show has the names and the sums of our samples.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

import clrevents
from browser_page import needs_browser
from clrevents.analysis import read_samples
from clrevents.analysis.shared.samples.samples import FlameFormat, Samples
from clrevents.export.flame.flame_formats import flame_bytes
from clrevents.export.look import Look, thread_labels
from npm_packages import npm_package
from project_files import FIXTURES

pytestmark = pytest.mark.full

KINDS: Final = (("net10-convoy", None), ("net10-starvation", "alloc"))
_DECODE: Final = """
import { readFileSync } from "node:fs";
import { Profile } from %s;
const p = Profile.decode(readFileSync(process.argv[2]));
const found = { ...p, stringTable: p.stringTable.strings };
console.log(JSON.stringify(found, (key, value) => typeof value === "bigint" ? Number(value) : value));
"""
_SHOWN: Final = re.compile(r"(?P<number>[\d.]+) ?(?P<unit>[^\d.( ]*)")
_UNITS: Final = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


def samples_of(name: str, weight: str | None) -> Samples:
    with clrevents.open(FIXTURES / f"{name}.nettrace.gz") as trace:
        return read_samples(trace, weight=weight)


def written(samples: Samples, format: FlameFormat, path: Path) -> Path:
    path.write_bytes(flame_bytes(samples, format, Look("app.nettrace")))
    return path


def by_frame(samples: Samples, thread: int) -> dict[str, tuple[float, float]]:
    """Of each frame of a thread what it and what it calls weighs, and what it weighs itself."""
    total, own = Counter[str](), Counter[str]()
    for place, stack, weight in zip(samples.thread, samples.stack, samples.weight, strict=True):
        if place == thread:
            names = [samples.frames[frame].name for frame in samples.frame_ids(stack)]
            total.update(dict.fromkeys(names, weight.item()))
            own[names[0]] += weight.item()
    return {name: (total[name], own[name]) for name in total if total[name]}


@needs_browser
@pytest.mark.parametrize(("name", "weight"), KINDS)
def test_speedscope_shows_our_sums(browser: Any, name: str, weight: str | None, tmp_path: Path) -> None:
    """Its lists of profiles and, from the longest on, of their functions."""
    page = npm_package("speedscope@1") / "dist" / "release" / "index.html"
    samples = samples_of(name, weight)
    tab = browser.new_page(viewport={"width": 1366, "height": 12_000})
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.goto(page.as_uri())
    tab.set_input_files("input[type=file]", written(samples, "speedscope", tmp_path / "app.speedscope.json"))
    tab.get_by_text("Sandwich").click()
    tab.get_by_text("Symbol Name").wait_for()
    assert "app.nettrace" in tab.title()
    labels = thread_labels(samples)
    whole = [int(samples.weight[samples.thread == place].sum()) for place in range(len(labels))]
    listed = [cells for cells in rows_of(tab) if cells[0].isdecimal()]
    assert [cells[1] for cells in listed] == labels
    assert [value_of(cells[2]) for cells in listed] == [pytest.approx(total, rel=0.01, abs=1) for total in whole]
    # It begins with the profile that weighs most.
    for place in range(whole.index(max(whole)), len(labels)):
        tab.get_by_text(f"{labels[place]} ({place + 1}/{len(labels)})", exact=True).wait_for()
        check_functions(tab, by_frame(samples, place))
        tab.keyboard.press("n")
    assert faults == []
    tab.close()


def rows_of(tab: Any) -> list[list[str]]:
    """The texts of all cells: of the list of profiles and of the list of functions."""
    script = "[...document.querySelectorAll('tr')].map(row => [...row.cells].map(cell => cell.textContent))"
    found: list[list[str]] = tab.evaluate(script)
    return found


def check_functions(tab: Any, wanted: dict[str, tuple[float, float]]) -> None:
    """Each row of the list within what its digits tell."""
    for _ in range(50):
        rows = [cells for cells in rows_of(tab) if cells[0].endswith("%)")]
        shown = {name: (value_of(total), value_of(own)) for total, own, name in rows}
        if {name for name, values in shown.items() if any(values)} == set(wanted):
            break
        # The list is drawn some time after the key was pressed.
        tab.wait_for_timeout(100)
    assert len(shown) == len(rows)
    assert {name for name, values in shown.items() if any(values)} == set(wanted)
    for name, (total, own) in wanted.items():
        assert shown[name][0] == pytest.approx(total, rel=0.01, abs=1), name
        assert shown[name][1] == pytest.approx(own, rel=0.01, abs=1), name


def value_of(text: str) -> float:
    found = _SHOWN.match(text.strip())
    assert found is not None, text
    return float(found["number"]) * _UNITS[found["unit"].strip() or "ns"]


@pytest.mark.parametrize(("name", "weight"), KINDS)
def test_another_decoder_of_pprof(name: str, weight: str | None, tmp_path: Path) -> None:
    """Datadog's, which sends such profiles. Sums by thread and by the innermost method."""
    module = npm_package("pprof-format@2") / "dist" / "esm" / "index.js"
    samples = samples_of(name, weight)
    packed = written(samples, "pprof", tmp_path / "app.pb.gz")
    plain, script = tmp_path / "app.pb", tmp_path / "decode.mjs"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    script.write_text(_DECODE % json.dumps(module.as_uri()))
    done = subprocess.run(["node", script, plain], capture_output=True, text=True, check=True, timeout=60)
    profile = json.loads(done.stdout)
    texts = profile["stringTable"]
    functions = {one["id"]: texts[one["name"]] for one in profile["function"]}
    leaves = {one["id"]: functions[one["line"][0]["functionId"]] for one in profile["location"]}
    found: Counter[tuple[str, str]] = Counter()
    count: Counter[str] = Counter()
    for one in profile["sample"]:
        (label,) = one["label"]
        assert texts[label["key"]] == "thread"
        found[texts[label["str"]], leaves[one["locationId"][0]]] += one["value"][1]
        count[texts[label["str"]]] += one["value"][0]
    wanted: Counter[tuple[str, str]] = Counter()
    labels = thread_labels(samples)
    for place, stack, amount in zip(samples.thread, samples.stack, samples.weight, strict=True):
        leaf = samples.frames[samples.frame_ids(stack)[0]].name
        wanted[labels[place], leaf] += amount.item()
    assert +found == +wanted
    assert count == Counter(labels[place] for place in samples.thread.tolist())
    unit = [texts[one["unit"]] for one in profile["sampleType"]]
    assert unit == ["count", "bytes" if weight else "nanoseconds"]
