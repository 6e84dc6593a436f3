"""Which registered (event, version) pairs occur in no real trace: the list at the end of docs/supported.md.

    python tools/unconfirmed.py [--check | --write] FOLDER…

Counts the events of every `.nettrace` and `.netperf` file (also `.gz`) in the folders by kind; the folders must not
contain synthetic streams. Prints the list; `--write` puts it into the document, `--check` only reports whether it is
current.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import clrevents
from clrevents.schema.registry import DEFAULT, OWN, SHORT_PROVIDERS, EventInfo

DOCUMENT: Final = Path(__file__).resolve().parent.parent / "docs" / "supported.md"
BEGIN: Final = "<!-- written by tools/unconfirmed.py -->"
END: Final = "<!-- to here -->"

Kind = tuple[str, int, int]

_SHORT: Final = {full: short for short, full in SHORT_PROVIDERS.items()}


def seen(folders: Iterable[Path]) -> set[Kind]:
    """The (provider, id, version) of every event in the folders' traces."""
    found: set[Kind] = set()
    for folder in folders:
        for path in sorted(p for e in ("nettrace", "netperf") for p in folder.glob(f"*.{e}*")):
            if path.suffix not in (".gz", ".nettrace", ".netperf"):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", clrevents.TraceWarning)
                with clrevents.open(path, errors="salvage") as trace:
                    found.update((key.provider, key.id, key.version) for key in trace.event_counts())
    return found


def render(found: set[Kind]) -> str:
    """The part of the document that depends on the traces and the registry."""
    families: dict[str, list[EventInfo]] = {}
    for info in DEFAULT.events():
        package, _, family = info.record.__module__.rpartition(".")
        # What we write ourselves needs no trace to confirm it.
        if package == "clrevents.schema.events" and info.provider != OWN:
            families.setdefault(family, []).append(info)
    total = sum(map(len, families.values()))
    missing = {
        family: sorted((i for i in infos if _kind(i) not in found), key=_kind)
        for family, infos in sorted(families.items())
    }
    seen_count = total - sum(map(len, missing.values()))
    lines = [
        f"Of {total} pairs in the registry, {seen_count} occur in real traces and {total - seen_count} do not:",
        "",
        "| family | pairs | seen | not seen |",
        "|---|---|---|---|",
    ]
    for family, infos in missing.items():
        lines.append(
            f"| {family} | {len(families[family])} | {len(families[family]) - len(infos)} | {_listed(infos)} |"
        )
    return "\n".join(lines)


def document(found: set[Kind], text: str) -> str:
    """The document with its list brought up to date."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{DOCUMENT.name} has no place for the list ({BEGIN} … {END})")
    return f"{before}{begin}\n\n{render(found)}\n\n{end}{after}"


def _kind(info: EventInfo) -> Kind:
    return info.provider, info.id, info.version


def _listed(infos: list[EventInfo]) -> str:
    """`runtime 141 MethodLoad v0 v1 v2; …`"""
    versions: dict[tuple[str, int, str], list[int]] = {}
    for info in infos:
        versions.setdefault((info.provider, info.id, info.name), []).append(info.version)
    return "; ".join(
        f"{_SHORT.get(provider, provider)} {id} {name} {' '.join(f'v{n}' for n in numbers)}"
        for (provider, id, name), numbers in versions.items()
    )


def main(arguments: list[str]) -> int:
    folders = [Path(a) for a in arguments if not a.startswith("--")]
    if not folders or not all(f.is_dir() for f in folders):
        raise SystemExit("pass the folders that contain the traces")
    found = seen(folders)
    old = DOCUMENT.read_text(encoding="utf-8")
    new = document(found, old)
    print(render(found))
    if "--write" in arguments:
        DOCUMENT.write_text(new, encoding="utf-8")
    if "--check" in arguments and new != old:
        print(f"docs/{DOCUMENT.name} is out of date: run tools/unconfirmed.py --write with the same folders")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
