"""The rows and the facts of the report on stubs: one class a table, every column with its unit and its meaning.

Declares them only; null is what the trace does not tell.
"""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.cells import (
    CodeName,
    CodeText,
    Count,
    DurationNs,
    Flag,
    Handle,
    Ns,
    Ordinal,
    ThreadId,
    Word,
)
from clrevents.analysis.framework.vocabulary.row_class import Row, column, row


@row(at="time_ns", threads=("thread_id",))
class Stub(Row):
    """One IL stub when it was generated."""

    time_ns: Ns = column("When the stub was generated.")
    thread_id: ThreadId | None = column("The thread that needed it.")
    compile_ns: DurationNs | None = column("How long the JIT took to compile it; null if it came precompiled.")
    cache_hits: Count = column("How often the runtime said, in the whole trace, that it used it again.", hidden=True)
    cut: Flag = column("The runtime cut one of its texts.", hidden=True)
    kind: Word = column("What the stub is for: `P/Invoke`, `delegate of a native function` and so on.")
    target: CodeName = column("The managed method that the stub stands for.")
    managed: CodeText = column("The signature that managed code sees.")
    native: CodeText = column("The signature of the native side.")
    flags: Word = column("The flags of the event, which `kind` says in words.", hidden=True)
    module: CodeName | None = column("The module that declares the managed method.", hidden=True)
    stack: tuple[CodeName, ...] = column("The call that needed the stub, innermost frame first.", hidden=True)
    stub_signature: CodeText = column("The signature of the stub itself.", hidden=True)
    il: CodeText = column("The code of the stub, in IL.", hidden=True)
    namespace: CodeName = column("The managed method's type, as the runtime writes it.", hidden=True)
    name: CodeName = column("The managed method's name, as the runtime writes it.", hidden=True)
    token: Ordinal = column("The managed method's metadata token.", hidden=True)
    stub_method_id: Handle = column("The runtime's id of the stub. Ids are used again.", hidden=True)


@row
class StubTarget(Row):
    """All stubs of one kind for one managed method."""

    stubs: Count = column("How many stubs were generated.")
    cache_hits: Count = column("How often the runtime said that it used one of them again.", hidden=True)
    compile_ns: DurationNs | None = column("How long the JIT took for all of them.")
    first_ns: Ns = column("When the first was generated.")
    kind: Word = column("What the stubs are for.")
    target: CodeName = column("The managed method.")
    managed: CodeText = column("The signature that managed code sees.")
    native: CodeText = column("The signature of the native side.")


@row
class StubKind(Row):
    """All stubs of one kind."""

    kind: Word = column("What the stubs are for.")
    count: Count = column("How many were generated.")


@row
class StubFacts:
    """Nothing but numbers is known of stubs; they are metrics."""
