"""What is read instead of loading everything: `schema/_index.py`, which family of events holds which, and
`analysis/framework/run/_report_index.py`, what each report is about and needs.
"""

from __future__ import annotations

import importlib
import pkgutil
from enum import Enum
from pathlib import Path

import attrs

from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import first_line, report_names
from clrevents.schema.registry import DEFAULT

SOURCE = Path(__file__).resolve().parents[2] / "src" / "clrevents"
SCHEMA = SOURCE / "schema"


def files() -> dict[Path, str]:
    """The modules with their texts."""
    return {SCHEMA / "_index.py": _events(), SOURCE / "analysis" / "framework" / "run" / "_report_index.py": _reports()}


def _events() -> str:
    package = importlib.import_module("clrevents.schema.events")
    families = sorted(m.name for m in pkgutil.iter_modules(package.__path__))
    shared = ["clrevents.schema.keywords"]
    shared += (f"clrevents.schema.{p.stem}" for p in sorted(SCHEMA.glob("*_flags.py")))
    others: dict[str, str] = {}
    rows: dict[tuple[str, int], tuple[str, dict[str, None], list[int], str]] = {}
    paths = (*shared, *(f"clrevents.schema.events.{family}" for family in families))
    modules = {path: importlib.import_module(path) for path in paths}
    # Makes the classes of all.
    _ = [*DEFAULT.events()]
    for path, module in modules.items():
        for name, value in vars(module).items():
            if not isinstance(value, type) or value.__module__ != path:
                continue
            # What only twins share is no event and no part of one.
            info = vars(value).get("__event__")
            if issubclass(value, Enum) or (
                info is None and hasattr(value, "__layout__") and not name.endswith("Fields")
            ):
                others[name] = path
            if info is not None:
                family = path.rpartition(".")[2]
                row = rows.setdefault((info.provider, info.id), (info.name, {}, [], family))
                if row[0] != info.name or row[3] != family:
                    raise SystemExit(f"{info.provider} {info.id}: one event, two names or two families")
                if name != f"{info.name}_V{info.version}":
                    raise SystemExit(f"{name} is not named after its event and version")
                row[1].update(dict.fromkeys(info.aliases))
                row[2].append(info.version)
    held: dict[tuple[str, str], list[tuple[int, str, tuple[str, ...], tuple[int, ...]]]] = {}
    for (provider, id), (name, aliases, versions, family) in sorted(rows.items()):
        held.setdefault((provider, family), []).append((id, name, tuple(sorted(aliases)), tuple(sorted(versions))))
    lines = [
        '"""Made by tools/make.py: which events of a provider a family holds, so that names load nothing."""',
        "",
        "EVENTS: dict[tuple[str, str], tuple[tuple[int, str, tuple[str, ...], tuple[int, ...]], ...]] = {",
        *(f"    {key!r}: {tuple(events)!r}," for key, events in held.items()),
        "}",
        "",
        "OTHERS: dict[str, tuple[str, ...]] = {",
    ]
    by_module = {module: [name for name in sorted(others) if others[name] == module] for module in others.values()}
    lines += [f"    {module!r}: {tuple(by_module[module])!r}," for module in sorted(by_module)]
    lines += ["}", ""]
    return "\n".join(lines).replace("'", '"')


def _reports() -> str:
    lines = [
        '"""Made by tools/make.py: what lists of reports and `info` say of each, so that they load none."""',
        "",
        "NEED = tuple[str, tuple[str, ...], int, int, str, bool, int | None, str]",
        "REPORTS: dict[str, tuple[str, str, *tuple[NEED, ...]]] = {",
    ]
    for name in report_names():
        declared = find_report(name)
        lines += [f"    {name!r}: (", f"        {first_line(name)!r},", f"        {declared.question!r},"]
        # Flags of keywords as numbers: they need no class.
        needs = (
            tuple(value.value if isinstance(value, Enum) else value for value in attrs.astuple(need, recurse=False))
            for need in declared.needs
        )
        lines += [*(f"        {need!r}," for need in needs), "    ),"]
    return "\n".join([*lines, "}", ""])
