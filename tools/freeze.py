"""What users get, as one file of digests: taken before code moves, compared after.

    python tools/freeze.py --write FILE     before
    python tools/freeze.py --check FILE     after: names what differs, exits with 1

Covers every report, info, check, doctor, spans and events of all fixtures as JSON and as text, exports and copies
of some as bytes, the schemas, the help, and the public names. It says that something differs, never whether it may.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = sorted((ROOT / "fixtures").glob("*.net*.gz"))
EXPORTED = ("net10-convoy", "net8-heap", "net8-linux", "net8-meters")
SUFFIXES = (
    *("jsonl", "csv:GCStart", "pftrace", "firefox.json", "heapsnapshot", "flame.html", "flame.folded"),
    *("flame.speedscope.json", "flame.pb.gz"),
)
PUBLIC = ("", ".analysis", ".diagnostics", ".fleet", ".rewrite", ".testing", ".trace", ".table", ".types", ".errors")


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def said(*arguments: str) -> bytes:
    """What the command prints, and its exit status."""
    from clrevents.cli import root

    out, errors = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    status: object = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            status = root.main(list(arguments), prog_name="clrevents")
        except SystemExit as ended:
            status = ended.code
    out.flush()
    return b"%s\n%s\n%s" % (out.buffer.getvalue(), errors.getvalue().encode(), str(status).encode())


def answers() -> Iterator[tuple[str, bytes]]:
    from clrevents.analysis.framework.run.listing import report_names

    for name in report_names():
        yield f"schema {name}", said("schema", name)
        yield f"help {name}", said(name, "--help")
    for path in FIXTURES:
        file, label = str(path), path.name.split(".")[0]
        for command in ("info", "check", "doctor"):
            yield f"{label} {command} json", said(command, file, "--json")
            yield f"{label} {command} text", said(command, file)
        for name in report_names():
            yield f"{label} {name} json", said(name, file, "--json")
            yield f"{label} {name} text", said(name, file)
        yield f"{label} events json", said("events", file, "--json", "--stacks", "--limit", "3000")
        yield f"{label} events text", said("events", file, "--limit", "300")


def files() -> Iterator[tuple[str, bytes]]:
    for label in EXPORTED:
        file = str(next(path for path in FIXTURES if path.name.startswith(label)))
        with tempfile.TemporaryDirectory() as folder:
            for suffix in SUFFIXES:
                kind, _, event = suffix.partition(":")
                out = Path(folder) / f"out.{kind.removeprefix('flame.')}"
                command = (
                    ("flame", file) if kind.startswith("flame.") else ("export", file, *([event] if event else []))
                )
                said(*command, "-o", str(out))
                yield f"{label} as {suffix}", out.read_bytes() if out.exists() else b""
                out.unlink(missing_ok=True)
            said("report", file, "-o", f"{folder}/page.html")
            yield f"{label} as page", Path(folder, "page.html").read_bytes()
            for command in (("cut", "--start", "20%", "--end", "60%"), ("redact", "--key", "0011")):
                said(command[0], file, "-o", f"{folder}/{command[0]}.nettrace", *command[1:])
                copy = Path(folder, f"{command[0]}.nettrace")
                yield f"{label} {command[0]}", copy.read_bytes() if copy.exists() else b""


def names() -> Iterator[tuple[str, bytes]]:
    for part in PUBLIC:
        try:
            module = importlib.import_module(f"clrevents{part}")
        except ImportError:
            continue
        public = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
        yield f"names of clrevents{part}", "\n".join(sorted(public)).encode()
    from clrevents.events import EXPORTS

    yield "names of clrevents.events", "\n".join(sorted(EXPORTS)).encode()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", type=Path)
    options.add_argument("--check", type=Path)
    given = options.parse_args()
    os.chdir(ROOT)
    frozen = {name: digest(data) for part in (answers, files, names) for name, data in part()}
    if given.write:
        given.write.write_text(json.dumps(frozen, indent=0))
        print(len(frozen), "digests")
        return 0
    before = json.loads(given.check.read_text())
    differing = sorted(name for name in before.keys() | frozen.keys() if before.get(name) != frozen.get(name))
    print(f"{len(differing)} of {len(before)} differ", *differing, sep="\n  ")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
