"""`clrevents schema`: what the registry knows about events, and what reports declare, without a trace.

Formats versions, fields, enums and bit fields, as text and as one JSON object. Declares nothing itself.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, Final

import click

from clrevents.analysis.framework.model.declaration import AnyReport, parameters_of
from clrevents.analysis.framework.model.json_schema import report_schema
from clrevents.analysis.framework.model.needs import record_needs
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import report_names
from clrevents.analysis.framework.vocabulary.cells import ColumnDeclaration
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from clrevents.cli import options
from clrevents.cli.output import Output, safe, say
from clrevents.cli.reading import Reading
from clrevents.errors import UnknownEventError
from clrevents.schema.flags import OpenFlag, named_values
from clrevents.schema.keywords import KEYWORDS
from clrevents.schema.layout import Layout
from clrevents.schema.matching import select_entries
from clrevents.schema.registry import DEFAULT, Entry, EventInfo
from clrevents.schema.wire import EnumType, StructType
from clrevents.trace import passes_of


def write_report_schema(out: Output, declared: AnyReport, as_json: bool) -> None:
    """Write what the report returns."""
    if as_json:
        out.json(report_schema(declared))
        return
    out.line(f"{out.bold(declared.name)}  {declared.question}")
    out.line(f"  dotnet-trace collect --providers {record_needs(declared.needs)}")
    own = [(p.name, repr(p.default), p.description) for p in parameters_of(declared.parameters)]
    _part(out, ("parameter", "default", ""), own)
    _part(out, ("metric", "unit", ""), [(m.name, m.unit, m.description) for m in declared.metrics])
    _part(out, ("fact", "type", ""), _columns(columns_of(declared.answer.facts_class())))
    for table in declared.answer.tables():
        out.line()
        out.line(f"table {out.bold(table.name)}{' (bulk)' if table.bulk else ''}: {table.description}")
        out.table(("column", "type", ""), _columns(columns_of(table.row_class)))


def type_text(column: ColumnDeclaration) -> str:
    """The type of a column in words."""
    text = f"list of {column.cell.name}" if column.many else column.cell.name
    return f"{text}, may be null" if column.nullable else text


def _part(out: Output, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if rows:
        out.line()
        out.table(head, rows)


def _columns(columns: Sequence[ColumnDeclaration]) -> list[tuple[str, str, str]]:
    return [(c.name, type_text(c), c.description) for c in columns]


_LEVELS: Final = {1: "critical", 2: "error", 3: "warning", 4: "informational", 5: "verbose"}


@click.command(name="schema")
@click.argument("name", required=False, metavar="[NAME]")
@options.json("Print one JSON object.")
@click.option("--write", "trace", metavar="FILE", help="Print a class for NAME as this trace describes it.")
def command(name: str | None, as_json: bool, trace: str | None) -> int:
    """List the known events, or describe one of them, or a report.

    NAME is a selector as in `clrevents events`: MethodLoadVerbose, Method/LoadVerbose, runtime/MethodLoad, or a
    pattern ('MethodJit*'); or the name of a report, whose --json is the JSON schema of its answer.

    \b
    Which fields does it have, and what do its flags mean?
        clrevents schema MethodLoadVerbose
    Which metrics, tables and columns does this report have?
        clrevents schema gc
    Which events are known?
        clrevents schema
    How do I declare my own event, which only the trace describes?
        clrevents schema OrderPlaced --write app.nettrace
    """
    if trace is not None:
        return _write(name, trace)
    if name in report_names():
        with Output() as out:
            write_report_schema(out, find_report(name), as_json)
        return 0
    entries = sorted(DEFAULT.entries(), key=lambda e: (e.provider, e.id))
    with Output() as out:
        if name is None:
            _list(out, entries, as_json)
            return 0
        try:
            chosen = select_entries(name, entries)
        except UnknownEventError as error:
            say(str(error))
            _say_own(name)
            return 1
        events = [_object(entry) for entry in chosen]
        if as_json:
            out.json({"schema": "clrevents.schema/1", "events": events})
        if not events:
            say(f"no known event matches the pattern {name!r}")
            _say_own(name)
        for i, event in enumerate([] if as_json else events):
            if i:
                out.line()
            _show(out, event)
        return 0 if events else 1


def _say_own(name: str) -> None:
    say(f"if a trace describes it, `clrevents schema {shlex.quote(name)} --write FILE` prints a class for it")


def _write(name: str | None, file: str) -> int:
    if name is None:
        raise click.UsageError("--write requires the NAME of an event in the trace")
    with Reading(file) as reading, Output() as out:
        bodies = passes_of(reading.trace).class_bodies(name)
        for i, body in enumerate(bodies):
            out.lines(([""] if i else []) + [safe(line) for line in body.splitlines()])
        if not bodies:
            raise click.UsageError(f"the trace has no event {name!r}")
    return 0


def _list(out: Output, entries: list[Entry], as_json: bool) -> None:
    if as_json:
        out.json({"schema": "clrevents.schema/1", "events": [_summary(e) for e in entries]})
        return
    rows = [(e.provider, str(e.id), e.name, ", ".join(map(str, e.versions))) for e in entries]
    out.table(("provider", "id", "name", "versions"), rows, right={"id"})


def _summary(entry: Entry) -> dict[str, object]:
    return {
        "provider": entry.provider,
        "id": entry.id,
        "name": entry.name,
        "aliases": list(entry.aliases),
        "versions": list(entry.versions),
    }


def _object(entry: Entry) -> dict[str, object]:
    """One event with the contents of all its versions."""
    infos = [info for v in entry.versions if (info := DEFAULT.get(entry.provider, entry.id, v)) is not None]
    enums: dict[str, object] = {}
    for info in infos:
        for enum in (enum for layout in info.layouts for enum in _enums(layout)):
            enums.setdefault(enum.__name__, _enum_object(enum))
            if issubclass(enum, OpenFlag):
                for bits in enum.bit_fields():
                    enums.setdefault(bits.enum.__name__, _enum_object(bits.enum))
    return {**_summary(entry), "versions": [_version_object(info) for info in infos], "enums": enums}


def _version_object(info: EventInfo) -> dict[str, object]:
    other = {} if info.otherwise is None else {"otherwise": list(_field_objects(info.layouts[-1]))}
    return {
        "version": info.version,
        "class": info.record.__name__,
        "meaning": info.meaning,
        "keywords": info.keywords,
        "keyword_names": _keyword_names(info.provider, info.keywords),
        "level": info.level,
        "fields": list(_field_objects(info.layout)),
        **other,
    }


def _field_objects(layout: Layout) -> Iterator[dict[str, object]]:
    for field in layout.fields:
        result: dict[str, object] = {"name": field.name, "type": field.type.name}
        innermost = field.type.innermost
        if isinstance(innermost, EnumType):
            result["enum"] = innermost.enum.__name__
        if isinstance(innermost, StructType):
            result["fields"] = list(_field_objects(innermost.layout))
        if field.pad is not None:
            result["padding"] = {"32-bit": field.pad.bytes32, "64-bit": field.pad.bytes64}
        yield result


def _enums(layout: Layout) -> Iterator[type[Enum]]:
    for field in layout.fields:
        innermost = field.type.innermost
        if isinstance(innermost, EnumType):
            yield innermost.enum
        elif isinstance(innermost, StructType):
            yield from _enums(innermost.layout)


def _enum_object(enum: type[Enum]) -> dict[str, object]:
    flags = issubclass(enum, OpenFlag)
    result: dict[str, object] = {"kind": "flags" if flags else "values", "values": dict(named_values(enum))}
    if issubclass(enum, OpenFlag) and enum.bit_fields():
        result["bit_fields"] = [
            {"name": b.name, "shift": b.shift, "width": b.width, "enum": b.enum.__name__} for b in enum.bit_fields()
        ]
    return result


def _keyword_names(provider: str, mask: int) -> list[str]:
    enum = KEYWORDS.get(provider)
    if enum is None:
        return []
    return [name for name, bit in named_values(enum) if bit & mask]


def _show(out: Output, event: dict[str, Any]) -> None:
    versions = event["versions"]
    out.line(f"{out.bold(event['name'])}  id {event['id']} of {event['provider']}")
    out.text(f"  {versions[0]['meaning']}", 2)
    out.line()
    if event["aliases"]:
        out.text(f"  aliases      {', '.join(event['aliases'])}", 15)
    out.line(f"  raised by    {_raised(versions[-1])}")
    for older, version in zip([None, *versions], versions, strict=False):
        _show_version(out, version, older)
    for name, enum in event["enums"].items():
        _show_enum(out, name, enum)


def _raised(version: dict[str, Any]) -> str:
    names = " or ".join(version["keyword_names"]) or ("no keyword" if not version["keywords"] else "")
    words = f"{names or 'keywords'} ({version['keywords']:#x})" if version["keywords"] else names
    level = version["level"]
    if not level:
        return f"{words}, any level"
    return f"{words} at level {level} ({_LEVELS.get(level, 'unnamed')})"


def _show_version(out: Output, version: dict[str, Any], older: dict[str, Any] | None) -> None:
    fields, before = version["fields"], [] if older is None else older["fields"]
    appended = bool(before) and fields[: len(before)] == before
    out.line()
    added = f": version {older['version']} and" if appended and older is not None else ""
    out.line(f"  {out.bold('version ' + str(version['version']))} ({version['class']}){added}")
    shown = fields[len(before) :] if appended else fields
    if not shown:
        out.line("    nothing more" if appended else "    no fields")
    _show_fields(out, shown, "    ")
    if "otherwise" in version:
        out.line("    or, if these do not fit:")
        _show_fields(out, version["otherwise"], "    ")


def _show_fields(out: Output, fields: list[dict[str, Any]], indent: str) -> None:
    width = max((len(f["name"]) for f in fields), default=0)
    for field in fields:
        enum = f" {field['enum']}" if "enum" in field else ""
        pad = f" (padding before it: {field['padding']})" if "padding" in field else ""
        out.line(f"{indent}{field['name']:<{width}}  {field['type']}{enum}{pad}")
        _show_fields(out, field.get("fields", []), indent + "    ")


def _show_enum(out: Output, name: str, enum: dict[str, Any]) -> None:
    out.line()
    flags = enum["kind"] == "flags"
    out.line(f"  {out.bold(name)} ({'bits' if flags else 'values'})")
    for value_name, value in enum["values"].items():
        out.line(f"    {f'{value:#x}' if flags else value:>10}  {value_name}")
    for bits in enum.get("bit_fields", ()):
        last = bits["shift"] + bits["width"] - 1
        out.line(f"    {'bits ' + str(bits['shift']) + '-' + str(last):>10}  {bits['name']}: {bits['enum']}")
