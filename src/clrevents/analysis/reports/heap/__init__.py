"""What is on the heap, and what keeps it alive, from heap snapshots."""

from clrevents.analysis.reports.heap.report import HeapReport as HeapReport
