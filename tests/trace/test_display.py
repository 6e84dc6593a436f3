"""How traces, events and batches show themselves: without reading, without control sequences, in good English."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import clrevents
from clrevents._util.words import safe
from clrevents.testing.builder import TraceBuilder
from project_files import fixture, unpacked

HOSTILE = "A\x1b]0;owned\x07\r\n\u202eB\x9b2J\u2028"
ESCAPED = r"A\x1b]0;owned\x07\r\n\u202eB\x9b2J\u2028"


class Counting(io.BytesIO):
    """A file that counts how often it is read."""

    reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        return super().read(size)

    def readinto(self, buffer: object, /) -> int:
        self.reads += 1
        return super().readinto(buffer)  # type: ignore[arg-type]


def lossy(lost: int, events: int = 2) -> clrevents.Trace:
    """A trace of samples on one thread, in which so many were lost."""
    builder = TraceBuilder().thread(2).sample()
    for _ in range(events - 2):
        builder.sample()
    return clrevents.open(builder.lose(lost).sample().build())


def hostile() -> clrevents.Trace:
    """A trace whose only event and its provider have a hostile name."""
    return clrevents.open(TraceBuilder().thread(1).raw(HOSTILE, 1, name=HOSTILE).build())


def test_two_hundred_characters_of_a_value_are_shown() -> None:
    builder = TraceBuilder().thread(1).described("P", "E", {"Text": (18, "x" * 201), "Fits": (18, "y" * 200)})
    shown = next(clrevents.open(builder.build()).events())._repr_html_()
    assert f">{'x' * 200}…<" in shown
    assert f">{'y' * 200}<" in shown


def test_repr_does_not_read() -> None:
    """Neither does asking for the header; the summary does, so reads are counted."""
    source = Counting(unpacked(fixture("net8-sample")))
    trace = clrevents.open(source)
    after_opening = source.reads
    assert after_opening > 0
    for _ in range(3):
        assert repr(trace) == (
            "<Trace in memory: NetTrace 4, process 5966, 64-bit, started 2026-11-21 08:13:44+00:00; see summary()>"
        )
    assert source.reads == after_opening
    trace.summary()
    assert source.reads > after_opening
    # Nor is a damaged one scanned: nobody is warned.
    assert repr(clrevents.open(unpacked(fixture("net8-sample"))[:200_000])).count("\n") == 0


def test_names_from_a_file_are_shown_not_obeyed() -> None:
    trace = hostile()
    line = trace.summary().splitlines()[-1]
    assert line == f"            1  {ESCAPED}  ({ESCAPED})"
    page = trace._repr_html_()
    assert f'<td style="text-align:left">{ESCAPED}</td>' in page
    (event,) = trace.events()
    for text in (page, repr(event), event._repr_html_()):
        assert safe(text) == text
        assert ESCAPED in text


def test_a_path_is_shown_not_obeyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("a\x1b[2Jb\n.nettrace")
    path.write_bytes(unpacked(fixture("net8-sample")))
    trace = clrevents.open(path)
    for text in (repr(trace), trace.summary().splitlines()[0]):
        assert r"a\x1b[2Jb\n.nettrace" in text
        assert safe(text) == text


@pytest.mark.parametrize(
    ("lost", "sentence"), [(1, "1 event was lost while recording"), (2000, "2,000 events were lost while recording")]
)
def test_losses_are_counted_in_words(lost: int, sentence: str) -> None:
    trace = lossy(lost)
    with pytest.warns(clrevents.TraceWarning) as found:
        text = trace.summary()
    assert [str(w.message) for w in found] == [sentence]
    assert f"  trust     {sentence}, on 1 thread" in text.splitlines()
    assert "  events    2 of 1 kind on 1 thread" in text.splitlines()
    with pytest.warns(clrevents.TraceWarning) as found:
        list(lossy(lost).events())
    assert [str(w.message) for w in found] == [f"at least {sentence}"]


def test_one_more_kind() -> None:
    builder = TraceBuilder().thread(2)
    for number in range(11):
        builder.raw("Provider", 1 + number, 0, b"")
    assert clrevents.open(builder.build()).summary().splitlines()[-1] == f"  {'':>11}  and 1 more kind"


def test_a_batch_counts_in_words() -> None:
    decoder = clrevents.Decoder()
    batches = decoder.feed(TraceBuilder().thread(2).sample().build()) + list(decoder.close())
    assert [repr(batch) for batch in batches if len(batch)] == ["<Batch of 1 event, 0 problems, 0 losses>"]


def test_safe_leaves_other_text_alone() -> None:
    text = "Ünïcødé \N{SNOWMAN} 日本 \\n <b> `1"
    assert safe(text) == text
    assert safe(safe(HOSTILE)) == safe(HOSTILE) == ESCAPED
    assert safe("\ud800") == r"\ud800"


def test_a_check_shows_itself_as_every_answer_does() -> None:
    builder = TraceBuilder().thread(1).sample().sample().raw("Shop", 7, name="Sold\x1b[2J", payload=b"abc")
    report = clrevents.open(builder.build()).check()
    lines = repr(report).split("\n")
    assert lines[2].startswith(
        "  verdict                  3 events; complete: nothing lost, nothing damaged; 1 event has"
    )
    assert any(line.endswith(r"Shop/Sold\x1b[2J") for line in lines)
    assert r"Shop/Sold\x1b[2J</td>" in report._repr_html_()
