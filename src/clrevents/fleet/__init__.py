"""Many traces at once: the same questions as of one, in parallel, with a column that says which trace a row is of."""

from clrevents.fleet.fleet_answer import FleetAnswer
from clrevents.fleet.traces import Traces, open_many

__all__ = ["FleetAnswer", "Traces", "open_many"]
