"""docs/rules.md, from the declarations: every rule of `doctor`, its threshold and where that comes from, its trap."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Final

from clrevents.analysis.doctor.rule import Rule
from clrevents.analysis.doctor.rulebook import FAMILIES

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "rules.md"
_BASED: Final = {
    "event": "events",
    "sample": "samples",
    "counted": "what the operating system counted",
    "inferred": "what events and samples suggest",
}
HEAD: Final = """\
# Rules

<!-- Made by tools/make.py of the rules: change those instead. -->

What [`clrevents doctor`](doctor.md) looks for. Each rule reads the metrics of [reports](questions.md#reports), and says
`found` from its threshold on. *Our judgement* means that no other tool or document has this number: we calibrated it on
recordings of programs that knew what was wrong with them.
"""


def files() -> dict[Path, str]:
    """The page with its text."""
    return {PAGE: render()}


def render() -> str:
    """The page's text."""
    return "\n".join([HEAD, *(line for family in FAMILIES for line in _family(family))])


def _family(family: ModuleType) -> Iterator[str]:
    about = (family.__doc__ or "").splitlines()[0]
    title, _, rest = about.removeprefix("Rules about ").rstrip(".").partition(": ")
    yield f"## {title[0].upper()}{title[1:]}"
    yield ""
    if rest:
        yield f"{rest[0].upper()}{rest[1:]}."
        yield ""
    for rule in family.RULES:
        yield from _rule(rule)


def _rule(rule: Rule) -> Iterator[str]:
    reports = ", ".join(f"[{name}]({name}.md)" for name in rule.reports) or "the trace itself"
    lines = {
        "Reads": f"{reports}: {', '.join(f'`{metric}`' for metric in rule.metrics)}",
        "Found from": f"{rule.threshold.text} ({rule.threshold.source})",
        "Based on": _BASED[rule.evidence],
        "Why": rule.why,
        "Do": rule.advice,
        **{f"Do, if {remedy.when}": remedy.advice for remedy in rule.remedies},
        "Wrong if": rule.trap,
        "Look": f"`clrevents {rule.command().replace('{file}', 'FILE').replace(' {span}', '')}`",
    }
    yield f"### {rule.id}"
    yield ""
    yield rule.question
    yield ""
    yield from (f"* **{name}**: {text}" for name, text in lines.items())
    yield ""
