"""The rows and the facts of the JIT report: one class per table, every column with its unit and its meaning.

Only declarations; whatever was not recorded is null.
"""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.row_class import (
    Address,
    Bytes,
    CodeName,
    CodeText,
    Count,
    DurationNs,
    Flag,
    Handle,
    Ns,
    Ordinal,
    Row,
    SpanRow,
    ThreadId,
    Word,
    column,
    row,
)


@row(since="first_ns")
class JittedMethod(Row):
    """One method with all its compilations that lie in the window."""

    method: CodeName = column("The method as in C#, or with `raw` as the runtime writes it.", importance=0)
    module: CodeName | None = column("The module that declares it.", hidden=True)
    compilations: Count = column("How many compilations of it began.", hidden=True)
    rejits: Count = column("How many of them were not the first of this method in the trace.", hidden=True)
    tiers: tuple[Word, ...] = column("The tiers of its finished compilations, in order of time.", importance=3)
    ready_ns: tuple[Ns, ...] = column("When each of them was ready to run.", hidden=True)
    compile_ns: DurationNs | None = column("How long its compilations took within the window.", importance=0)
    background_ns: DurationNs | None = column("How much of that was on the background thread.", hidden=True)
    il_bytes: Bytes | None = column("The size of its IL, at the last compilation.", importance=2)
    native_bytes: Bytes | None = column("The size of its code, at the last compilation.")
    inlined: Count | None = column("Calls that were inlined in its compilations.", importance=3)
    not_inlined: Count | None = column("Calls that could not be inlined in its compilations.", importance=3)
    never_tiered_up: Flag = column(
        "It was compiled for a quick start and never optimized in the whole trace.", hidden=True
    )
    rejected: Flag = column("It had precompiled code that could not be used.", hidden=True)
    first_ns: Ns = column("When its first compilation began; if that is unknown, when it was ready.", hidden=True)
    method_id: Handle = column("The runtime's id of the method. Ids of dynamic methods are reused.", hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Compilation(SpanRow):
    """One compilation of a method, finished or not."""

    method: CodeName = column("The method as in C#, or with `raw` as the runtime writes it.")
    module: CodeName | None = column("The module that declares it.", hidden=True)
    tier: Word | None = column("The tier, as the runtime names it; null for an unfinished compilation.")
    version: Ordinal | None = column("The number of this version of the method's code; 0 is the first.", hidden=True)
    background: Flag | None = column("Whether the thread that raises methods to higher tiers compiled it.")
    thread_id: ThreadId | None = column("The thread that compiled it.")
    start_ns: Ns | None = column("When the compilation began.")
    end_ns: Ns | None = column("When the code was loaded.", hidden=True)
    compile_ns: DurationNs | None = column("The time between the two, including any part outside the window.")
    il_bytes: Bytes | None = column("The size of the IL.")
    native_bytes: Bytes | None = column("The size of the code alone.")
    inlined: Count | None = column("Calls that were inlined.", hidden=True)
    not_inlined: Count | None = column("Calls that could not be inlined.", hidden=True)
    tail_calls: Count | None = column("Calls that became tail calls.", hidden=True)
    no_tail_calls: Count | None = column("Calls that could not become tail calls.", hidden=True)
    recompiled: Flag = column("The same method was compiled before, in this trace.", hidden=True)
    dynamic: Flag | None = column("It is a dynamic method or a stub, generated at run time.", hidden=True)
    rejected: Flag | None = column("There was precompiled code that could not be used.", hidden=True)
    method_id: Handle = column("The runtime's id of the method.", hidden=True)
    address: Address | None = column("Where the code begins.", hidden=True)
    namespace: CodeName = column("The method's type, as the runtime writes it.", hidden=True)
    name: CodeName = column("The method's name, as the runtime writes it.", hidden=True)
    signature: CodeText = column("The method's signature, as the runtime writes it.", hidden=True)


@row
class TierTotal(Row):
    """All compilations at one tier."""

    tier: Word | None = column("The tier, as the runtime names it; null for unfinished compilations.")
    compilations: Count = column("How many compilations began.")
    compile_ns: DurationNs | None = column("How long they took within the window.")
    il_bytes: Bytes | None = column("The size of their IL.")
    native_bytes: Bytes | None = column("The size of their code.")


@row(threads=("thread_id",))
class JitThread(Row):
    """All compilations on one thread."""

    thread_id: ThreadId | None = column("The thread.")
    compilations: Count = column("How many compilations began on it.")
    background: Count = column("How many of them raised methods to higher tiers in the background.")
    compile_ns: DurationNs | None = column("How long they took within the window.")
    il_bytes: Bytes | None = column("The size of their IL.")
    native_bytes: Bytes | None = column("The size of their code.")


@row
class JitDecision(Row):
    """One outcome of the JIT's decisions about calls, and the reason."""

    what: Word = column("What was decided: `inlining` or `tail call`.")
    accepted: Flag = column("Whether the JIT did it.")
    count: Count = column("How many calls had this outcome.")
    reason: Word | None = column("The JIT's word for why not, or for how it made a tail call.")


@row
class JitFacts:
    """The facts of a JIT report."""

    tiering: Word | None = column("The settings of tiered compilation, as the runtime names them.")
    background_by: Word | None = column(
        "How background compilations are recognized: by recorded `turns` of their thread, or only by `versions` of "
        "methods."
    )
