"""Every event class and enum, flat: `from clrevents.events import MethodLoadVerbose_V2, StubFlags`.

A name loads its family on first use. For type checkers, the families are named, not their contents.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from clrevents.schema._index import EXPORTS

if TYPE_CHECKING:
    from clrevents.schema.events.allocation_sampling import *
    from clrevents.schema.events.app_domain_resources import *
    from clrevents.schema.events.assembly_loader import *
    from clrevents.schema.events.contention import *
    from clrevents.schema.events.debugger import *
    from clrevents.schema.events.diagnostic_source import *
    from clrevents.schema.events.exception import *
    from clrevents.schema.events.gc import *
    from clrevents.schema.events.gc_allocation import *
    from clrevents.schema.events.gc_bulk import *
    from clrevents.schema.events.gc_history import *
    from clrevents.schema.events.gc_segments import *
    from clrevents.schema.events.gc_suspension import *
    from clrevents.schema.events.interop import *
    from clrevents.schema.events.jit import *
    from clrevents.schema.events.loader import *
    from clrevents.schema.events.messages import *
    from clrevents.schema.events.method import *
    from clrevents.schema.events.method_legacy import *
    from clrevents.schema.events.mono_execution import *
    from clrevents.schema.events.mono_gc import *
    from clrevents.schema.events.mono_loader import *
    from clrevents.schema.events.perf_track import *
    from clrevents.schema.events.private_dynamic_types import *
    from clrevents.schema.events.private_gc import *
    from clrevents.schema.events.private_loading import *
    from clrevents.schema.events.private_security import *
    from clrevents.schema.events.private_startup import *
    from clrevents.schema.events.process_info import *
    from clrevents.schema.events.r2r import *
    from clrevents.schema.events.rundown_marks import *
    from clrevents.schema.events.runtime_info import *
    from clrevents.schema.events.sample_profiler import *
    from clrevents.schema.events.security import *
    from clrevents.schema.events.stack_walk import *
    from clrevents.schema.events.stress import *
    from clrevents.schema.events.thread_pool import *
    from clrevents.schema.events.thread_pool_legacy import *
    from clrevents.schema.events.thread_pool_work import *
    from clrevents.schema.events.threads import *
    from clrevents.schema.events.tiering import *
    from clrevents.schema.events.types import *
    from clrevents.schema.events.universal import *
    from clrevents.schema.keywords import *
    from clrevents.schema.method_flags import *
    from clrevents.schema.runtime_flags import *


def __getattr__(name: str) -> Any:
    try:
        module = EXPORTS[name]
    except KeyError:
        raise AttributeError(f"module 'clrevents.events' has no event class or enum {name!r}") from None
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(EXPORTS)
