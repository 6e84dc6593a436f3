"""Every kind of stream that once cost far more than its size, by name: how it is made, and how large.

Gathers `costly`, `costly_containers`, `costly_reports` and `costly_work`; runs nothing and knows no reader.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from typing import Final

import attrs

import costly
import costly_containers
import costly_reports
import costly_work


@attrs.frozen
class Family:
    """Streams of one kind: `make(size)` gives a whole trace, `small` is a second's work at most, `full` many."""

    name: str
    make: Callable[[int], bytes]
    small: int
    full: int
    suffix: str = ".nettrace"


def zipped_nothing(size: int) -> bytes:
    """A gzip stream of `size` million zeros, which is a thousandth of them."""
    sink = io.BytesIO()
    with gzip.GzipFile(fileobj=sink, mode="wb", mtime=0) as file:
        for _ in range(size):
            file.write(bytes(1_000_000))
    return sink.getvalue()


FAMILIES: Final = (
    Family("located-fields", lambda n: costly.located_fields(4096, 40_000, n), 2, 50),
    Family("located-array", lambda n: costly.located_array(10_000, 25_000, n), 2, 50),
    Family("overrides", lambda n: costly.long_override_list(n, n), 4_000, 100_000),
    Family("labels", lambda n: costly.long_label_list(n, n), 4_000, 100_000),
    Family("label-lists", costly.short_label_lists, 200_000, 8_000_000),
    Family("unchained-stacks", costly_containers.unchained_stacks, 4_000, 40_000),
    Family("distant-ends", costly_containers.distant_ends, 2_000, 20_000),
    Family("doubtful-events", costly_containers.doubtful_events, 2_000, 20_000),
    Family("unsound-blocks", costly_containers.unsound_blocks, 2_000, 40_000),
    Family("broken-records", costly_containers.broken_records, 1_000, 10_000, ".netperf"),
    Family("forgotten-kinds", lambda n: b"".join(costly_containers.many_kinds(n, n // 100)), 10_000, 190_000),
    Family("kept-threads", lambda n: b"".join(costly_containers.many_threads(n, n // 100)), 10_000, 200_000),
    Family("equal-names", costly.equal_names, 1_000, 4_096),
    Family("empty-fields", costly.empty_fields, 2_000, 100_000),
    Family("absent-fields", lambda n: costly.absent_fields(n, 4096), 1_000, 100_000),
    Family("nested", costly.nested, 1_000, 100_000),
    Family("long-names", costly.long_names, 1_000, 100_000),
    Family("small-blocks", costly.small_blocks, 10_000, 1_000_000),
    Family("small-blocks-of-4", costly.small_blocks_of_four, 10_000, 500_000),
    Family("point-threads", costly.many_threads, 100_000, 8_000_000),
    Family("point-threads-of-4", costly.many_threads_of_four, 50_000, 1_300_000),
    Family("wide-kinds", lambda n: costly.wide_kinds(n, 4_096), 8, 100),
    Family("wide-names", lambda n: costly.wide_kinds(n, 4_096, n), 2, 100),
    Family("many-tables", costly.many_tables, 500, 190_000),
    Family("null-columns", lambda n: costly.null_columns(n, 4_096), 1_000, 50_000),
    Family("vast-method", lambda n: costly.vast_method(n, n), 500, 20_000),
    Family("zipped-nothing", zipped_nothing, 20, 2_000, ".nettrace.gz"),
    Family("nested-spans", costly_reports.nested_spans, 2_000, 50_000),
    Family("crossing-spans", costly_reports.crossing_spans, 2_000, 50_000),
    Family("equal-ids", costly_reports.equal_ids, 2_000, 50_000),
    Family("reversed-times", costly_reports.reversed_times, 2_000, 50_000),
    Family("threads-with-turns", costly_reports.threads_with_turns, 2_000, 50_000),
    Family("processes", costly_reports.processes, 100, 50_000),
    Family("runtimes", costly_reports.runtimes, 2_000, 200_000),
    Family("deep-stacks", costly_reports.deep_stacks, 3_000, 60_000),
    Family("nested-activities", costly_work.nested_activities, 1_000, 100_000),
    Family("one-activity-id", costly_work.one_activity_id, 1_000, 100_000),
    Family("open-activities", costly_work.open_activities, 1_000, 50_000),
    Family("task-chain", costly_work.task_chain, 1_000, 20_000),
    Family("tasks-of-deep-stacks", costly_work.tasks_of_deep_stacks, 300, 10_000),
    Family("awaits-of-one-task", costly_work.awaits_of_one_task, 1_000, 50_000),
    Family("work-items", costly_work.work_items, 1_000, 100_000),
    Family("open-requests", costly_work.open_requests, 1_000, 40_000),
    Family("connections", costly_work.connections, 1_000, 20_000),
    Family("many-counters", costly_work.many_counters, 1_000, 100_000),
    Family("many-tags", costly_work.many_tags, 10, 200),
    Family("many-texts", costly_work.many_texts, 1_000, 100_000),
    Family("nameless-stacks", costly_work.nameless_stacks, 200, 10_000),
    Family("recursive-stacks", costly_work.recursive_stacks, 200, 10_000),
    Family("endless", lambda n: b"".join(costly_containers.endless(n)), 500, 20_000),
)
