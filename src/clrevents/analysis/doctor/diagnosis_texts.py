"""A diagnosis in words: one screen of lines, and Markdown. Decides what is said first; knows no rule, no terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from typing import Any, Final, Protocol

from clrevents._util.fitting import shortened, wrapped
from clrevents._util.words import counted, markdown_text, safe, share_text
from clrevents.analysis.framework.vocabulary.answer_values import metric_text

LINES, COLUMNS = 25, 100
"""Of a repr."""
MOST: Final = 10
"""How many findings are shown."""


class Concluded(Protocol):
    """What texts need of a diagnosis."""

    @property
    def findings(self) -> Iterable[Any]: ...

    @property
    def facts(self) -> Any: ...


def impact_text(one: Any) -> str:
    """What a finding costs: `22.5 ms, 2.2 %`."""
    impact = one.impact
    if impact is None:
        return ""
    text = metric_text(impact)
    return text if one.share is None else f"{text}, {share_text(one.share)}"


def culprit_text(one: Any) -> str:
    """Who is behind a finding, or why that is unknown; nothing where there is nobody to be named."""
    return one.culprit or (f"unknown, because {one.nameless}" if one.nameless else "")


def headline(found: Concluded) -> str:
    """How many things are wrong, and how much of the rest is known."""
    states = [one.state for one in found.findings]
    number = states.count("found")
    rest = f"{counted(states.count('clear'), 'rule')} found nothing"
    if states.count("cannot tell"):
        rest += f", {states.count('cannot tell')} cannot tell"
    first = counted(number, "finding") if number else "nothing found"
    return f"{first}; {rest}"


def diagnosis_lines(found: Concluded, width: int | None, most: int = MOST) -> list[str]:
    """The findings, worst first, each with what it costs, who is behind it, what to do and where to look."""
    lines = [headline(found)]
    wrong = [one for one in found.findings if one.state == "found"]
    for number, one in enumerate(wrong[:most], 1):
        lines += ["", *wrapped(safe(f"{number}. {one.rule} ({impact_text(one)}): {one.title}"), width, 3)]
        lines += [part for text in _parts(one) for part in wrapped(safe(f"   {text}"), width, 5)]
        # On one line, to be copied.
        lines.append(safe(f"   look: {one.next_command}"))
    if len(wrong) > most:
        lines.append(f"… and {counted(len(wrong) - most, 'more finding')}")
    did = {name: getattr(found.facts, name) for name in ("ran", "waited", "allocated")}
    did_lines = [wrapped(safe(f"{name:9}  {text}"), width, 11) for name, text in did.items() if text]
    lines += ["", *chain.from_iterable(did_lines)] if did_lines else []
    unknown = [one.rule for one in found.findings if one.state == "cannot tell"]
    folded = f"cannot tell: {', '.join(_families(unknown))}; --rule NAME says why"
    return [*lines, *(["", *wrapped(safe(folded), width, 2)] if unknown else [])]


def _families(rules: Iterable[str]) -> Iterator[str]:
    """Each rule, or of several of a family how many."""
    for family, names in groupby(sorted(rules), lambda rule: rule.partition(".")[0]):
        first, *more = names
        yield f"{family}.* ({1 + len(more)})" if more else first


def short_lines(found: Concluded) -> list[str]:
    """The findings, a line each: a repr."""
    lines = [f"<doctor: {headline(found)}>"]
    for one in found.findings:
        if one.state == "found":
            culprit = f", {one.culprit}" if one.culprit else ""
            lines.append(f"  {one.rule} ({impact_text(one)}){culprit}: {one.title}")
    return [shortened(safe(line), COLUMNS) for line in lines[:LINES]]


def unknown_lines(found: Concluded, width: int | None) -> list[str]:
    """Which rules cannot tell, and why, those with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for one in found.findings:
        if one.state == "cannot tell":
            by_reason.setdefault(one.title, []).append(one.rule)
    lines = [""] if by_reason else []
    for reason, rules in by_reason.items():
        lines += wrapped(safe(f"cannot tell {', '.join(rules)}: {reason}"), width, 2)
    return lines


def _parts(one: Any) -> Iterator[str]:
    if culprit := culprit_text(one):
        yield f"culprit: {culprit}"
    yield f"do: {one.advice}"


def detail_lines(found: Concluded, width: int | None) -> list[str]:
    """Everything about each finding, for who asks for a few rules."""
    lines: list[str] = []
    for one in found.findings:
        impact = impact_text(one)
        parts = {
            "impact": impact,
            "culprit": culprit_text(one),
            "confidence": one.confidence,
            "threshold": f"{one.threshold} ({one.source})",
            "why": one.why,
            "do": one.advice,
            "wrong if": one.trap,
            "record": one.record,
        }
        lines += [""] if lines else []
        lines += wrapped(safe(f"{one.rule}: {one.state}: {one.title}"), width, 2)
        for name, text in parts.items():
            if text:
                lines += wrapped(safe(f"  {name}: {text}"), width, 4)
        lines.append(safe(f"  look: {one.next_command}"))
    return lines


def diagnosis_markdown(found: Concluded) -> Iterator[str]:
    """A table of findings, and what each of them means."""
    yield f"**{markdown_text(headline(found))}**"
    wrong = [one for one in found.findings if one.state == "found"]
    if wrong:
        yield ""
        yield "| rule | impact | finding | culprit |"
        yield "|---|---:|---|---|"
    for one in wrong[:MOST]:
        cells = (one.rule, impact_text(one), one.title, culprit_text(one))
        yield f"| {' | '.join(map(markdown_text, cells))} |"
    for one in wrong[:MOST]:
        yield ""
        why, advice, trap = map(markdown_text, (one.why, one.advice, one.trap))
        yield f"**{one.rule}**: {why} {advice} Wrong if: {trap}"
    for line in unknown_lines(found, None):
        yield markdown_text(line)
