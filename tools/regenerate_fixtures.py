"""Writes the expected decode next to each fixture and prints what changed; `--check` only prints.

An expected decode holds the header, counts by kind, the first event of each kind in full, the first and the last
event, and digests over all events. 64-bit integers are JSON integers in full; enums are number and text; stack
addresses, bytes and floats are text. Files are only written if they changed.
"""

from __future__ import annotations

import difflib
import gzip
import hashlib
import json
import sys
from collections import Counter
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import clrevents

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
LONG = 240
"""Strings and lists longer than this are truncated in the samples; the digests cover them in full."""


def traces() -> list[Path]:
    """The fixtures' traces."""
    return sorted(FIXTURES.glob("*.net*.gz"))


def expected_path(trace: Path) -> Path:
    """The path of a trace's expected decode: `x.nettrace.gz` has `x.expected.json`."""
    return trace.with_name(trace.name.partition(".net")[0] + ".expected.json")


def describe(data: bytes) -> dict[str, Any]:
    """The expected decode of a trace's (decompressed) bytes."""
    with clrevents.open(data) as trace:
        info = trace.info
        # The contents of the file, independent of the registry, and the registry's interpretation of them.
        raw, records = hashlib.sha256(), hashlib.sha256()
        samples: dict[clrevents.EventKey, dict[str, Any]] = {}
        first: clrevents.Event[Any] | None = None
        last: clrevents.Event[Any] | None = None
        for event in trace.events():
            raw.update(_line(_raw(event)))
            records.update(_line([event.name, _fields(event.payload), event.payload_tail.hex()]))
            first = first or event
            last = event
            if event.key not in samples:
                samples[event.key] = _shown(event)
        report = trace.check()
        return {
            "header": {
                "format": info.format,
                "version": info.version,
                "start": info.start.isoformat() if info.start else None,
                "sync_qpc": info.sync_qpc,
                "frequency": info.frequency,
                "pointer_size": info.pointer_size,
                "process_id": info.process_id,
                "processors": info.processors,
                "sampling_interval_ns": info.sampling_interval_ns,
            },
            "complete": report.complete,
            "duration_ns": trace.duration_ns,
            "events": report.events,
            "lost": report.lost,
            "threads": {str(t.thread_id): t.events for t in sorted(trace.threads, key=lambda t: t.thread_id)},
            "problems": dict(sorted(Counter(report.problem_counts).items())),
            "counts": {str(key): n for key, n in sorted(trace.event_counts().items())},
            "sha256_of_headers_stacks_and_payload_bytes": raw.hexdigest(),
            "sha256_of_names_and_records": records.hexdigest(),
            "first": _shown(first) if first else None,
            "last": _shown(last) if last else None,
            "first_of_each_kind": [samples[key] for key in sorted(samples)],
        }


def render(expected: dict[str, Any]) -> str:
    """The text of an expected decode."""
    return json.dumps(expected, indent=1, ensure_ascii=True) + "\n"


def _raw(event: clrevents.Event[Any]) -> list[Any]:
    """The contents of the file, by position: without names of ours, so that no change of ours can affect it."""
    return [
        event.provider,
        event.id,
        event.version,
        event.opcode,
        event.level,
        event.keywords,
        event.time_ns,
        event.thread_id,
        event.process_id,
        event.processor,
        _plain(event.activity_id),
        _plain(event.related_activity_id),
        list(event.stack),
        event.payload_bytes.hex(),
    ]


def _shown(event: clrevents.Event[Any]) -> dict[str, Any]:
    shown = {
        "provider": event.provider,
        "id": event.id,
        "version": event.version,
        "name": event.name,
        "opcode": event.opcode,
        "level": event.level,
        "keywords": event.keywords,
        "time_ns": event.time_ns,
        "time": event.time.isoformat() if event.time else None,
        "thread_id": event.thread_id,
        "process_id": event.process_id,
        "processor": event.processor,
        "activity_id": _plain(event.activity_id),
        "related_activity_id": _plain(event.related_activity_id),
        "stack": " ".join(map(hex, event.stack)),
        "payload": _fields(event.payload),
        "payload_tail": event.payload_tail.hex(),
    }
    return {key: _cut(value) for key, value in shown.items()}


def _fields(payload: Any) -> Any:
    if isinstance(payload, clrevents.RawPayload):
        return {"raw": payload.data.hex(), "reason": payload.reason, "partial": _plain(dict(payload.partial))}
    return _plain(clrevents.asdict(payload))


def _plain(value: Any) -> Any:
    """The value in JSON form."""
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, Enum):
        return {"number": int(value.value), "text": str(value)}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float):
        return repr(value)
    if value is None or type(value) in (bool, int, str):
        return value
    return str(value) if isinstance(value, UUID) else f"{type(value).__name__} {value}"


def _cut(value: Any) -> Any:
    """Long strings and lists, represented by their beginning, their length and a digest."""
    if isinstance(value, dict):
        return {key: _cut(v) for key, v in value.items()}
    if isinstance(value, str | list) and len(value) > LONG:
        digest = hashlib.sha256(_line(value)).hexdigest()
        head = value[:80] if isinstance(value, str) else value[:8]
        return {"begins": head, "length": len(value), "sha256": digest}
    return value


def _line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def main() -> int:
    changed = False
    kept = {expected_path(trace) for trace in traces()}
    for orphan in sorted(set(FIXTURES.glob("*.expected.json")) - kept):
        changed = True
        print(f"{orphan.name} has no trace: remove it")
    for trace in traces():
        path = expected_path(trace)
        old = path.read_text(encoding="ascii") if path.exists() else ""
        new = render(describe(gzip.decompress(trace.read_bytes())))
        if new == old:
            print(f"{path.name}: unchanged")
            continue
        changed = True
        names = f"old {path.name}", f"new {path.name}"
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), *names, n=1))
        if "--check" not in sys.argv:
            path.write_text(new, encoding="ascii")
    return 1 if changed and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
