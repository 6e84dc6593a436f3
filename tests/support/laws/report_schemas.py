"""Real answers of all reports against the schemas that `clrevents schema NAME --json` prints."""

from __future__ import annotations

import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

import clrevents
from clrevents.analysis.framework.model.json_schema import report_schema
from clrevents.analysis.framework.run.asking import find_report
from clrevents.table.display import LINES, WIDTH


@cache
def validator(name: str) -> Any:
    """Of the published schema, with every key that it does not name forbidden."""
    published = json.loads(json.dumps(report_schema(find_report(name))))
    jsonschema.Draft202012Validator.check_schema(published)
    return jsonschema.Draft202012Validator(closed(published))


def closed(schema: Any) -> Any:
    """The schema, strict: an object has the properties that are declared and no others."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    if isinstance(made.get("properties"), dict) and "type" in made:
        made["additionalProperties"] = False
    return made


def validate(path: Path) -> None:
    """Every report on this trace: its JSON is what the schema says, its repr and HTML fit a screen."""
    with warnings.catch_warnings(), clrevents.open(path, errors="salvage") as trace:
        # Of losses and damage the notes speak too.
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        for name, answer in trace.reports().items():
            data = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
            validator(name).validate(data)
            lines = repr(answer).splitlines()
            assert len(lines) <= LINES, name
            assert max(map(len, lines)) <= WIDTH, name
            page = answer._repr_html_()
            assert len(page.encode()) <= 50_000, name
            assert "<script" not in page.lower(), name
