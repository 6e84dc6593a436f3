"""The rows of the GC report's tables: one class per table, every column with its unit and its meaning.

Only declarations; whatever was not recorded is null. Rows about one collection have its time.
"""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.report_table import Row, SpanRow, column, row

_START = "When the collection began (`GCStart`); null if that is not in the trace."
_END = "When it ended (`GCEnd`); null if that is not in the trace."
_GENERATION = "Which part of the heap: `gen0`, `gen1`, `gen2`, `large` objects, `pinned` objects."


@row(span=("start_ns", "end_ns"), threads=("start_thread_id", "end_thread_id", "suspend_thread_id"))
class GarbageCollection(SpanRow):
    """One collection."""

    number: cells.Ordinal = column("Its number, as the runtime counts them.", importance=1)
    generation: cells.Ordinal | None = column("The oldest generation that was collected: 0, 1 or 2.", importance=1)
    kind: cells.Word | None = column(
        "`blocking`; `background`: while the program kept running; during a background one: `foreground`, or "
        "`ephemeral` for the short one that begins it. Null if its start is not in the trace.",
        importance=3,
    )
    reason: cells.Word | None = column("Why it was triggered, in the runtime's words.", importance=1)
    start_ns: cells.Ns | None = column(_START, importance=1)
    end_ns: cells.Ns | None = column(_END, hidden=True)
    pause_ns: cells.DurationNs | None = column(
        "How long it stopped the program in total: from the start of each suspension until all threads ran again.",
        importance=0,
    )
    suspend_ns: cells.DurationNs | None = column("How much of that was spent waiting for all threads to stop.")
    duration_ns: cells.DurationNs | None = column(
        "From its start to its end; for a background one, this is not a pause.", hidden=True
    )
    pause_start_ns: cells.Ns | None = column("When its first suspension began.", hidden=True)
    pauses: cells.Count = column("How many suspensions it had, or shared.", hidden=True)
    heap_before_bytes: cells.Bytes | None = column("The size of all generations before, including free space.")
    heap_after_bytes: cells.Bytes | None = column("The size of all generations afterwards, including free space.")
    promoted_bytes: cells.Bytes | None = column(
        "What survived, as the runtime adds it up; null for a background one, for which the runtime repeats the "
        "previous collection's number."
    )
    survival: cells.Ratio | None = column(
        "The survivors' share of the objects in the generations that were collected; null for a background one."
    )
    fragmentation_bytes: cells.Bytes | None = column("Free space inside the generations afterwards.", hidden=True)
    free_list_bytes: cells.Bytes | None = column("How much of that can be used for allocation.", hidden=True)
    budget_bytes: cells.Bytes | None = column(
        "How much may be allocated in generation 0 of all heaps before the next collection; null for a background one.",
        hidden=True,
    )
    allocated_bytes: cells.Bytes | None = column(
        "What was allocated since the end of the previous collection; null during a background one.", hidden=True
    )
    allocation_rate: cells.Number | None = column("The same in bytes per second.", hidden=True)
    pinned_objects: cells.Count | None = column("How many pinned objects it found.", hidden=True)
    finalizable_objects: cells.Count | None = column(
        "How many dead objects were kept for their finalizers.", hidden=True
    )
    finalizable_bytes: cells.Bytes | None = column(
        "How large these are, including everything they refer to.", hidden=True
    )
    handles: cells.Count | None = column("How many GC handles there were.", hidden=True)
    memory_load: cells.Ratio | None = column("How much of the machine's physical memory was in use.", hidden=True)
    mark_ns: cells.DurationNs | None = column("Time spent marking, by the runtime's own clock.", hidden=True)
    plan_ns: cells.DurationNs | None = column("Time spent planning where survivors go.", hidden=True)
    relocate_ns: cells.DurationNs | None = column(
        "Time spent updating references; null if it did not compact.", hidden=True
    )
    compact_ns: cells.DurationNs | None = column(
        "Time spent moving survivors; null if it did not compact.", hidden=True
    )
    sweep_ns: cells.DurationNs | None = column("Time spent sweeping; null if it compacted.", hidden=True)
    mechanisms: tuple[cells.Word, ...] = column(
        "What it did: `concurrent`, `compaction`, `promotion`, `demotion`, `card bundles`.", hidden=True
    )
    condemned: tuple[cells.Word, ...] = column(
        "Why this generation was chosen, over all heaps; empty if generation 0's budget was the only reason.",
        hidden=True,
    )
    compact_reasons: tuple[cells.Word, ...] = column("Why it compacted, over all heaps.", hidden=True)
    expand_reasons: tuple[cells.Word, ...] = column("How it expanded heaps, over all heaps.", hidden=True)
    pause_mode: cells.Word | None = column("The latency mode that the program had chosen.", hidden=True)
    heaps: cells.Count | None = column("How many heaps reported on it: several with server GC.", hidden=True)
    imbalance: cells.Number | None = column(
        "The survivors of the heap with the most, as a multiple of the mean; null with one heap.", hidden=True
    )
    committed_bytes: cells.Bytes | None = column("The memory that the GC had committed, as last recorded.", hidden=True)
    requested_ns: cells.Ns | None = column("When it was requested.", hidden=True)
    requested_thread_id: cells.ThreadId | None = column(
        "The thread that requested it: the one that allocated, or that called GC.Collect.", hidden=True
    )
    requested_by: cells.CodeName | None = column(
        "The method that requested it, leaving out the runtime's own; with `callers`."
    )
    requested_in: cells.CodeName | None = column(
        "The program's method nearest to that one; with `callers`.", hidden=True
    )
    start_thread_id: cells.ThreadId | None = column("The thread that wrote its start.", hidden=True)
    end_thread_id: cells.ThreadId | None = column("The thread that wrote its end.", hidden=True)
    suspend_thread_id: cells.ThreadId | None = column("The thread that stopped the others for it.", hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class GcSuspension(SpanRow):
    """One suspension of all managed threads."""

    start_ns: cells.Ns | None = column("When the runtime began to stop the threads; null if that is not in the trace.")
    end_ns: cells.Ns | None = column("When they could all run again; null if that is not in the trace.", hidden=True)
    pause_ns: cells.DurationNs | None = column("From start to end.")
    suspend_ns: cells.DurationNs | None = column("How long it took until all had stopped.")
    held_up_ns: cells.DurationNs | None = column(
        "How much of that they were already held by another suspension, such as the sample profiler's."
    )
    stopped_ns: cells.Ns | None = column("When all had stopped.", hidden=True)
    reason: cells.Word | None = column("Why, in the runtime's words; null if the start is not in the trace.")
    number: cells.Ordinal | None = column("The collection that it is for; null if none, or unknown.")
    others: tuple[cells.Ordinal, ...] = column("Other collections that ran during it.")
    thread_id: cells.ThreadId | None = column("The thread that stopped the others.")


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class SuspensionHint(SpanRow):
    """Where one thread was last seen before one of the slowest suspensions."""

    suspend_ns: cells.DurationNs = column("How long it took until all threads had stopped.")
    number: cells.Ordinal | None = column("The collection that it was for.")
    thread_id: cells.ThreadId = column("A thread that was in managed code, and so had to be waited for.")
    before_ns: cells.DurationNs = column("How long before the suspension the thread was seen there.")
    method: cells.CodeName | None = column("The method that it was running; null if its stack is unknown.")
    start_ns: cells.Ns = column("When the runtime began to stop the threads.")
    end_ns: cells.Ns = column("When all had stopped.", hidden=True)


@row
class KeptObjects(Row):
    """Objects of one type that outlived collections because they were pinned, or had a finalizer."""

    kind: cells.Word = column("`pinned`, or `finalized`: those whose finalizer ran.")
    type: cells.CodeName | None = column("Their type; null if no event names it.")
    objects: cells.Count = column("How many there were; pinned ones count in each collection that found them.")
    bytes: cells.Bytes | None = column("Their size, likewise; null for finalized ones, for which it is not recorded.")
    method: cells.CodeName | None = column(
        "The program's method that allocated most of those that `samples` counts; null if none is known."
    )
    samples: cells.Count = column(
        "How many recorded allocations are of such an object (`pinned`), or of this type (`finalized`)."
    )


@row(span=("start_ns", "end_ns"), threads=("start_thread_id", "end_thread_id"))
class CollectedGeneration(SpanRow):
    """What one collection did to one generation, summed over all heaps."""

    number: cells.Ordinal = column("The collection's number.")
    generation: cells.Word = column(_GENERATION)
    size_before_bytes: cells.Bytes = column("Its size before, including free space.")
    size_after_bytes: cells.Bytes | None = column(
        "Its size afterwards, including free space; null where .NET Core 3.1 does not record it, because it is the "
        "same."
    )
    survived_bytes: cells.Bytes | None = column(
        "What survived of it; null if it was not collected, or by a background collection, for which this is not "
        "recorded."
    )
    survival: cells.Ratio | None = column("The survivors' share of its objects; null if either is unknown.")
    pinned_survived_bytes: cells.Bytes | None = column("How much of that was pinned.")
    moved_in_bytes: cells.Bytes = column("What was promoted from the younger generation.")
    free_list_after_bytes: cells.Bytes | None = column("Free space afterwards that can be used for allocation.")
    free_objects_after_bytes: cells.Bytes | None = column("Free space afterwards in pieces too small for that.")
    budget_bytes: cells.Bytes | None = column(
        "How much may be allocated in it before it is collected again; null if it was not collected."
    )
    start_ns: cells.Ns | None = column(_START, hidden=True)
    end_ns: cells.Ns | None = column(_END, hidden=True)
    start_thread_id: cells.ThreadId | None = column("The thread that wrote its start.", hidden=True)
    end_thread_id: cells.ThreadId | None = column("The thread that wrote its end.", hidden=True)


@row
class HeapGeneration(CollectedGeneration):
    """What one collection did to one generation of one heap."""

    heap: cells.Ordinal = column("The heap's number; workstation GC has heap 0 only.")


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class MarkedRoots(SpanRow):
    """How long one heap took to mark from one kind of root in one collection."""

    number: cells.Ordinal = column("The collection's number.")
    heap: cells.Ordinal = column("The heap that marked.")
    kind: cells.Word = column("The kind of root, in the runtime's words.")
    mark_ns: cells.DurationNs | None = column(
        "Since the heap's previous kind of root, or the start of the collection; with server GC, this includes "
        "waiting for other heaps."
    )
    marked_bytes: cells.Bytes = column("The objects first reached from this kind of root.")
    time_ns: cells.Ns = column("When it was done.", hidden=True)
    thread_id: cells.ThreadId | None = column("The thread that marked.", hidden=True)
    start_ns: cells.Ns | None = column(_START, hidden=True)
    end_ns: cells.Ns | None = column(_END, hidden=True)


@row
class GcTotal(Row):
    """All collections with one thing in common."""

    by: cells.Word = column("What they have in common: `generation`, `kind` or `reason`.")
    what: cells.Word = column("The generation, kind or reason; `unknown` where the trace does not tell.")
    count: cells.Count = column("How many began in the window.")
    pause_ns: cells.DurationNs | None = column("How long they stopped the program within the window.")
    share: cells.Ratio | None = column("Their share of all pauses.")
    pause_max_ns: cells.DurationNs | None = column("The longest pause of one of them.")
    suspend_ns: cells.DurationNs | None = column("The total time until all threads had stopped.")
    promoted_bytes: cells.Bytes | None = column("The total of what survived.")


@row(at="time_ns", threads=("thread_id",))
class CommittedMemory(Row):
    """The memory that the GC had committed at one moment."""

    time_ns: cells.Ns = column("When.")
    number: cells.Ordinal | None = column("The collection during which it was recorded: at its start or its end.")
    committed_bytes: cells.Bytes = column("The total.")
    in_use_bytes: cells.Bytes = column("For heaps.")
    free_bytes: cells.Bytes = column("Free, held by heaps.")
    global_free_bytes: cells.Bytes = column("Free, held for all heaps.")
    decommit_bytes: cells.Bytes = column("About to be given back.")
    bookkeeping_bytes: cells.Bytes = column("The GC's own tables.")
    thread_id: cells.ThreadId | None = column("The thread that wrote the event.", hidden=True)


@row(at="time_ns", threads=("thread_id",))
class AdaptationSample(Row):
    """What server GC measured during one collection to adapt the number of its heaps (DATAS)."""

    time_ns: cells.Ns = column("When.")
    gc_index: cells.Ordinal = column("The collection, as DATAS counts them.")
    between_ns: cells.DurationNs = column("The time since the previous collection.")
    pause_ns: cells.DurationNs = column("Its pause, as the runtime measured it.")
    small_wait_ns: cells.DurationNs = column("How long threads waited for memory for small objects.")
    large_wait_ns: cells.DurationNs = column("How long threads waited for memory for large and pinned objects.")
    stable_bytes: cells.Bytes = column("The size of live data, as DATAS estimates it.")
    budget_bytes: cells.Bytes = column("The budget of generation 0, for each heap.")
    thread_id: cells.ThreadId | None = column("The thread that wrote the event.", hidden=True)


@row(at="time_ns", threads=("thread_id",))
class AdaptationTuning(Row):
    """One decision of server GC about the number of its heaps (DATAS)."""

    time_ns: cells.Ns = column("When.")
    gc_index: cells.Ordinal = column("The collection, as DATAS counts them.")
    full: cells.Flag = column("The decision was based on generation 2 collections, which fill fewer of the columns.")
    heaps: cells.Count = column("The number of heaps that it chose.")
    least_heaps: cells.Count | None = column("The smallest number that it could choose.")
    most_heaps: cells.Count | None = column("The largest number that it could choose.")
    median_cost: cells.Number = column("The median cost of collections, in percent of the time.")
    cost: cells.Number | None = column("The cost that the decision was based on, in percent.")
    stable_bytes: cells.Bytes | None = column("The size of live data, as DATAS estimates it.")
    since_change: cells.Count = column(
        "How many collections (for full ones: of generation 2) ago the number last changed."
    )
    thread_id: cells.ThreadId | None = column("The thread that wrote the event.", hidden=True)


@row
class GcFacts:
    """Which GC it is, and how that is known."""

    flavor: cells.Word | None = column("`server`, with a heap for each processor, or `workstation`; null if unknown.")
    flavor_evidence: cells.Word | None = column(
        "`event`: the runtime's own start-up flags; `inferred`: several heaps, or events that only server GC writes."
    )
    background_allowed: cells.Word | None = column("`yes` or `no`: whether collections may run while the program does.")
    pause_mode: cells.Word | None = column("The latency mode at the last collection that recorded it.")
    most_heaps: cells.Count | None = column("The most heaps in one collection.")
    hard_limit_bytes: cells.Bytes | None = column("The heap's size limit, if one was set.")
    other_suspensions: cells.Count | None = column(
        "Suspensions for other reasons, such as the sample profiler's: not included in any other number."
    )
