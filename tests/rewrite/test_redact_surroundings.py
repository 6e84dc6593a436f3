"""`redact`: texts around the payloads: header pairs, threads, labels, and what descriptions say besides names."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import pytest
from rewrite_events import reread

import clrevents
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, FieldDescription, Label, MetadataRecord, ThreadRow, TraceHeader
from clrevents.rewrite import Redacted, redact
from clrevents.schema.codes import LabelKind, TypeCode

TEXT, INT, OBJECT = TypeCode.STRING, TypeCode.INT32, TypeCode.OBJECT


def surrounded() -> bytes:
    """Nine events of one kind, with a secret in every place that NetTrace 6 has for texts, but names of code."""
    sink = io.BytesIO()
    pairs = (("ProcessId", "42"), ("HardwareThreadCount", "secret of a number"), ("secret of a key", "secret value"))
    writer = NetTrace6Writer(sink, TraceHeader(process_id=42, key_values=pairs))
    inner = FieldDescription("acme inner", INT)
    described = (FieldDescription("by acme", OBJECT, None, (inner,)), FieldDescription("Text", TEXT))
    attributes = (("secret of a place", "secret of a kind"),)
    texts = {"attributes": attributes, "description": "secret of a description", "message": "secret of a message"}
    writer.metadata([MetadataRecord(1, "Acme-Web", 1, name="AcmeRequest", fields=described, **texts)])  # type: ignore[arg-type]
    writer.threads([ThreadRow(0, 7, 42, "secret of a name", (("secret of a pool", "secret of a thread"),))])
    lists = [
        [Label(LabelKind.TEXT, "secret of a label", "secret of an url"), Label(LabelKind.NUMBER, 4, "n")],
        [Label(LabelKind.TEXT, "secret", "color"), Label(LabelKind.TEXT, "", "shape"), Label(LabelKind.LEVEL, 3)],
    ]
    writer.labels(1, lists)
    payload = struct.pack("<i", 5) + "see Acme.Shop for more\0".encode("utf-16-le")
    writer.events([EventRecord(1, 10 * i, payload=payload, label_id=i % 3) for i in range(9)])
    writer.end()
    return sink.getvalue()


def redacted(out: Path, **options: Any) -> Redacted:
    with clrevents.open(surrounded()) as trace:
        return redact(trace, out, **{"blank": True, **options})


@pytest.mark.parametrize("pseudonyms", [False, True])
def test_secrets_around_events(out: Path, pseudonyms: bool) -> None:
    assert surrounded().count(b"secret") == 13
    done = redacted(out, blank=not pseudonyms)
    assert b"secret" not in out.read_bytes()
    counts = {
        f"{event}.{field}": n for (provider, event, field), n in done.counts.replaced.items() if provider == "trace"
    }
    assert counts == {
        **{
            "header.key": 1,
            "header.value": 1,
            "header.HardwareThreadCount": 1,
            "thread.name": 1,
            "thread.key": 1,
            "thread.value": 1,
        },
        **{"description.key": 1, "description.value": 1, "description.description": 1, "description.message": 1},
        **{"label.key": 4, "label.value": 2},
    }
    with clrevents.open(surrounded()) as before, clrevents.open(out) as after:
        assert after.info.process_id == 42
        assert len(after.info.key_values) == 3
        assert [len(t.name or "") for t in after.threads] == [13 if pseudonyms else 16]
        for ours, theirs in zip(reread(out), before.events(), strict=True):
            assert (ours.provider, ours.name) == ("Acme-Web", "AcmeRequest")
            assert (ours.level, ours.time_ns, ours.thread_id) == (theirs.level, theirs.time_ns, theirs.thread_id)
            # As many labels, whose numbers and empty texts stay.
            assert [v for v in ours.labels.values() if v in (4, "")] == [
                v for v in theirs.labels.values() if v in (4, "")
            ]
            assert len(ours.labels) == len(theirs.labels)


def test_what_is_around_can_be_kept(out: Path) -> None:
    redacted(out, keep=["trace/label.*", "trace/thread.name"])
    with clrevents.open(out) as after:
        assert [t.name for t in after.threads] == ["secret of a name"]
        labels = [event.labels for event in reread(out)]
    assert labels[1] == {"secret of an url": "secret of a label", "n": 4}
    assert labels[2] == {"color": "secret", "shape": ""}
    assert b"secret of a thread" not in out.read_bytes()


def test_asked_text_leaves_no_trace(out: Path) -> None:
    """A text that was asked for goes wherever it stands: names of providers, events and fields too."""
    redacted(out, texts=["(?i)acme"], keep=["*"])
    assert b"acme" not in out.read_bytes().lower().replace(b"\0", b"")
    first, *_ = reread(out)
    assert first.provider != first.name
    assert first.payload_bytes[:4] == struct.pack("<i", 5)
    assert first.payload["Text"] == "x" * len("see Acme.Shop for more")
