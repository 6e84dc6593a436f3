"""Rules about requests, connections and commands, on built services: no recording of a server was at hand."""

from __future__ import annotations

import pytest

from built_services import MS, SERVICES, S, Service, queues_at_first
from clrevents.analysis.doctor.diagnosis import Diagnosis, Finding
from reading import opened


def told(service: Service, *rules: str) -> Diagnosis:
    with opened(service.web.builder.build()) as trace:
        found: Diagnosis = trace.doctor(*rules)
    return found


def impact(one: Finding) -> tuple[int, str] | None:
    metric = one.impact
    return None if metric is None else (int(metric.value or 0), metric.unit)


# Rule → impact, culprit and title of the one finding in the service that has the ailment.
FOUND = {
    "db.repeated": ((240 * MS, "ns"), None, "one request ran the same command 120 times, for at least 240 ms in all"),
    "db.slow": ((5 * S // 2, "ns"), "Shop", "1 command took 1.00 s or more, 2.50 s at most"),
    "http.queue": (
        (39 * S // 10, "ns"),
        "shop:80",
        "78 of 80 requests waited until another one was done with its connection, 48.7 % of all time",
    ),
    "http.new_connections": ((80, "count"), "shop:80", "80 of 80 requests made a new connection"),
}


@pytest.mark.parametrize("rule", SERVICES)
def test_the_ailment_is_the_only_finding(rule: str) -> None:
    sick, _ = SERVICES[rule]
    (one,) = told(sick()).found
    assert (one.rule, impact(one), one.culprit, one.title) == (rule, *FOUND[rule])


@pytest.mark.parametrize(
    ("rule", "number"),
    [(rule, number) for rule, (_, fine) in SERVICES.items() for number in range(len(fine))],
)
def test_nothing_is_found_where_nothing_is_wrong(rule: str, number: int) -> None:
    _, fine = SERVICES[rule]
    found = told(fine[number]())
    assert [(one.rule, one.title) for one in found.found] == []
    assert {one.rule: one.state for one in found.findings}[rule] == "clear"


def test_a_queue_at_first_is_measured_and_clear() -> None:
    (one,) = told(queues_at_first(), "http.queue").findings
    title = "0 of 80 requests waited until another one was done with its connection, 0 % of all time"
    assert (one.state, one.title) == ("clear", title)
