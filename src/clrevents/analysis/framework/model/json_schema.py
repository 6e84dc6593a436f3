"""The JSON schema of a report, from its declaration: describes what `to_dict` returns, by JSON Schema 2020-12.

Keys may be added later, so a schema does not forbid unknown ones.
"""

from __future__ import annotations

from typing import Any, Final

from clrevents.analysis.framework.model.declaration import AnyReport, parameters_of
from clrevents.analysis.framework.vocabulary.cells import Cell, ColumnDeclaration
from clrevents.analysis.framework.vocabulary.report_table import columns_of

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_TYPES: Final = {int: "integer", float: "number", str: "string", bool: "boolean"}
_INTEGER: Final = {"type": "integer"}
_TEXT: Final = {"type": "string"}


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
                "coverage": {"enum": ["full", "partial", "none"]},
                "notes": {"type": "array", "items": _note()},
                "facts": row_schema(declared.answer.facts_class()),
                "metrics": _object({m.name: _metric(m.description, m.unit) for m in declared.metrics}),
                "tables": _object(
                    {
                        t.name: {"type": "array", "description": t.description, "items": row_schema(t.row_class)}
                        for t in tables
                    },
                    optional=[t.name for t in tables if t.bulk],
                ),
                "rows": _object({t.name: _INTEGER for t in tables}),
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
    number = {"type": ["integer", "number", "null"]}
    return {
        "description": f"{description} ({unit})",
        **_object(
            {
                "value": number,
                "unit": {"const": unit},
                "better": {"enum": ["less", "more", "neither"]},
                "merge": {"enum": ["sum", "max", "min", "none"]},
                "low": number,
                "high": number,
                "evidence": {"enum": ["event", "sample", "counted", "inferred"]},
                "reason": _nullable("string"),
                "unseen": number,
            }
        ),
    }


def _question(declared: AnyReport) -> dict[str, object]:
    parameters: dict[str, object] = {}
    for p in parameters_of(declared.parameters):
        types = [_TYPES[p.type], "null"] if p.default is None else _TYPES[p.type]
        parameters[p.name] = {"type": types, "description": p.description}
    return _object(
        {
            "report": {"const": declared.name},
            "text": _TEXT,
            "parameters": _object(parameters),
            "window": _object({"start_ns": _nullable("integer"), "end_ns": _nullable("integer")}),
            "process_id": _nullable("integer"),
            "processes": {"type": "array", "items": _nullable("integer")},
            "trace": _object(
                {
                    "path": _nullable("string"),
                    "format": _TEXT,
                    "format_version": _INTEGER,
                    "start": _nullable("string"),
                    "process_id": _nullable("integer"),
                    "duration_ns": _nullable("integer"),
                }
            ),
            "clrevents": _TEXT,
        }
    )


def _note() -> dict[str, object]:
    return _object(
        {
            "id": _TEXT,
            "severity": {"enum": ["info", "warning", "error"]},
            "message": _TEXT,
            "touches": {"type": "array", "items": _TEXT},
            "numbers": {"type": "object", "additionalProperties": {"type": "number"}},
            "remedy": _nullable("string"),
            "record": _nullable("string"),
        }
    )


def _nullable(kind: str) -> dict[str, object]:
    return {"type": [kind, "null"]}


def _object(properties: dict[str, object], optional: list[str] | None = None) -> dict[str, object]:
    required = [name for name in properties if name not in (optional or ())]
    return {"type": "object", "properties": properties, "required": required}
