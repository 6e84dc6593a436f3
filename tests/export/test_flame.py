"""Which format a name means, and what all formats have in common."""

from __future__ import annotations

from pathlib import Path

import pytest

import clrevents
from clrevents.analysis import read_samples
from clrevents.analysis.shared.samples.samples import FlameFormat
from clrevents.export.file_formats import file_format
from clrevents.export.flame.flame_formats import FLAME_FORMATS, flame_bytes
from clrevents.export.look import Look
from hand_made import Row, hand_made
from project_files import fixture

ROWS: list[Row] = [(7, 5, ("a", "b"), False), (8, 3, ("a",), True), (7, 2, ("a", "b", "c"), False)]


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("x.html", "html"),
        ("X.HTM", "html"),
        ("x.json", "speedscope"),
        ("x.speedscope.json.gz", "speedscope"),
        ("x.folded", "folded"),
        ("x.collapsed.gz", "folded"),
        ("x.txt", "folded"),
        ("x.pb.gz", "pprof"),
        ("x.pprof", "pprof"),
        ("x.nettrace", None),
        ("x.gz", None),
        ("-", None),
        ("json", None),
    ],
)
def test_formats_by_name(name: str, format: str | None) -> None:
    assert file_format(name, "flame") == format


@pytest.mark.parametrize("format", FLAME_FORMATS)
def test_odd_names_do_not_stop_it(format: FlameFormat) -> None:
    odd = ("\ud800", "</script><!--", "a;b\n", "\x00\u2028", "é" * 300, "\U0001f525", "")
    assert flame_bytes(hand_made([(1, 3, odd, False)]), format, Look("\udc80</title>"))


def test_samples_write_what_the_command_writes(tmp_path: Path) -> None:
    """The title is the trace's file name and times are the session's, unless told otherwise."""
    with clrevents.open(fixture("net8-netperf3")) as trace:
        samples = read_samples(trace, start="500ms", end="1s")
    look = Look("net8-netperf3.netperf.gz", f"clrevents {clrevents.__version__}", start=trace.info.start)
    samples.write(tmp_path / "a.pb.gz")
    assert (tmp_path / "a.pb.gz").read_bytes() == flame_bytes(samples, "pprof", look)
    samples.write(str(tmp_path / "a.json.gz"), format="folded", merge_threads=True, raw=True)
    merged = look._replace(merge_threads=True, raw=True)
    assert (tmp_path / "a.json.gz").read_bytes() == flame_bytes(samples, "folded", merged, pack=True)
    running = samples.in_states("running")
    running.write(tmp_path / "a.html", title="Running", against=samples)
    other = look._replace(title="Running")
    against = ("net8-netperf3.netperf.gz", samples)
    page = (tmp_path / "a.html").read_bytes()
    assert b"Running compared with net8-netperf3.netperf.gz" in page
    assert page == flame_bytes(running, "html", other, against=against)


def test_samples_refuse_to_write_what_makes_no_sense(tmp_path: Path) -> None:
    samples = hand_made(ROWS)
    with pytest.raises(ValueError, match=r"the suffix of '.*a.svg' is not that of a known format"):
        samples.write(tmp_path / "a.svg")
    with pytest.raises(ValueError, match="unknown format 'svg'; formats are"):
        samples.write(tmp_path / "a.html", format="svg")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not in the format folded"):
        samples.write(tmp_path / "a.txt", against=samples)
    assert list(tmp_path.iterdir()) == []
