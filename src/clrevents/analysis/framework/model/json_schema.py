"""The JSON schema of a report, from its declaration: describes what `to_dict` returns, by JSON Schema 2020-12.

Keys may be added later, so a schema does not forbid unknown ones.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Any, Final, Literal

import attrs

from clrevents.analysis.framework.model.declaration import AnyReport, parameters_of
from clrevents.analysis.framework.vocabulary.answer_values import Coverage, Metric, Note, Question
from clrevents.analysis.framework.vocabulary.cells import Cell, ColumnDeclaration
from clrevents.analysis.framework.vocabulary.report_table import columns_of

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_TYPES: Final = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}


def report_schema(declared: AnyReport) -> dict[str, object]:
    """The schema of one report's JSON."""
    tables = declared.answer.tables()
    return {
        "$schema": DIALECT,
        "$id": f"clrevents.{declared.name}/1",
        "title": declared.question,
        "description": declared.description,
        **_object(
            {
                "schema": {"const": f"clrevents.{declared.name}/1"},
                "question": _question(declared),
                "coverage": _value(Coverage),
                "notes": {"type": "array", "items": _value(Note)},
                "facts": row_schema(declared.answer.facts_class()),
                "metrics": _object({m.name: _metric(m.description, m.unit) for m in declared.metrics}),
                "tables": _object(
                    {
                        t.name: {"type": "array", "description": t.description, "items": row_schema(t.row_class)}
                        for t in tables
                    },
                    optional=[t.name for t in tables if t.bulk],
                ),
                "rows": _object({t.name: _value(int) for t in tables}),
            }
        ),
    }


def row_schema(row_class: type[Any]) -> dict[str, object]:
    """The schema of a row, or of facts."""
    return _object({column.name: _column(column) for column in columns_of(row_class)})


def _column(column: ColumnDeclaration) -> dict[str, object]:
    one: dict[str, object] = {"type": _TYPES[column.cell.python]}
    schema: dict[str, object] = {"type": "array", "items": one} if column.many else one
    if column.nullable:
        schema = {**schema, "type": [schema["type"], "null"]}
    return {**schema, "description": f"{column.description} {_meaning(column.cell)}"}


def _meaning(cell: Cell) -> str:
    return f"({cell.name}: {cell.meaning})"


def _metric(description: str, unit: str) -> dict[str, object]:
    return {"description": f"{description} ({unit})", **_fields(Metric, unit={"const": unit})}


def _question(declared: AnyReport) -> dict[str, object]:
    parameters: dict[str, object] = {}
    for p in parameters_of(declared.parameters):
        types = [_TYPES[p.type], "null"] if p.default is None else _TYPES[p.type]
        parameters[p.name] = {"type": types, "description": p.description}
    return _fields(Question, report={"const": declared.name}, parameters=_object(parameters))


def _value(hint: Any) -> dict[str, object]:
    """The schema of a value of this type."""
    inner, origin = typing.get_args(hint), typing.get_origin(hint)
    if attrs.has(hint):
        return _fields(hint)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is tuple:
        return {"type": "array", "items": _value(inner[0])}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": {"type": "number"}}
    return {"type": [_TYPES[one] for one in inner] if inner else _TYPES[hint]}


def _fields(value_class: type[Any], **known: dict[str, object]) -> dict[str, object]:
    """The schema of one of the small values of every answer; of some fields more is known than their type."""
    hints = typing.get_type_hints(value_class)
    return _object({f.name: known.get(f.name) or _value(hints[f.name]) for f in attrs.fields(value_class)})


def _object(properties: dict[str, object], optional: list[str] | None = None) -> dict[str, object]:
    required = [name for name in properties if name not in (optional or ())]
    return {"type": "object", "properties": properties, "required": required}
