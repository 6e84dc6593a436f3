"""Many traces at once: the same questions as for one, in parallel, with a column for the trace that a row belongs
to."""

from clrevents.fleet.fleet_answer import FleetAnswer
from clrevents.fleet.traces import Traces, open_many

__all__ = ["FleetAnswer", "Traces", "open_many"]
