"""Rules about the processor and a container's limits: who used it, who wanted it and had none, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from clrevents._util.words import counted, digits, duration_text, share_text, size_text
from clrevents.analysis.doctor.rule import Ailment, Case, Cited, Clear, Rule, Threshold, Verdict
from clrevents.analysis.doctor.rules.compilation_rules import MADE, MAKING
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.gathering.merged_stacks import is_own_name
from clrevents.schema.registry import OWN

_OTHERS: Final = 0.2
"""Other programs are to blame if they used this part of the machine's processor time."""
_OTHER: Final = "other programs"
_COUNTED: Final = Need("what the operating system counted", ("ProcessorTime",), 0, provider=OWN)
_LIMITS: Final = Need("what the operating system counted", ("ProcessLimits",), 0, provider=OWN)
_LEAST_NS: Final = 500_000_000
_ALL_NS: Final = "threads.processor_total"
_MAKERS: Final = re.compile(
    r"^System\.(?:Text\.RegularExpressions\.Regex\.\.ctor|Text\.RegularExpressions\.RegexConstructionCache"
    r"|Linq\.Expressions\.(?:Expression|LambdaExpression)(?:<.*>)?\.Compile|Linq\.Expressions\.Compiler\."
    r"|Xml\.Serialization\.XmlSerializer\.\.ctor|Xml\.Xsl\.XslCompiledTransform\.Load|Reflection\.Emit\.)"
)
"""Methods that make code, or what works as code."""
_AWAITING: Final = re.compile(
    r"^System\.(?:Runtime\.CompilerServices\.(?:Async|Yield|TaskAwaiter|ConfiguredTask|ConfiguredValueTask|ValueTaskAwaiter)"
    r"|Threading\.(?:Tasks\.(?!Parallel|TaskReplicator)|ThreadPoolWorkQueue|PortableThreadPool|ExecutionContext"
    r"|LowLevelLifoSemaphore\.(?!Wait|Block))|Diagnostics\.Debugger\.NotifyOfCross)"
)
"""Methods that suspend and continue async methods, without those in which workers wait for that."""
_WORKERS: Final = re.compile(r"^System\.Threading\.LowLevel(?:LifoSemaphore\.(?:Wait|Block)|SpinWaiter\.)")
"""Those: workers fall asleep and are woken for each small piece."""
_FILES: Final = re.compile(
    r"^(?:Interop\.Sys\.P?(?:Read|Write)\(|System\.IO\.(?:FileStream|RandomAccess|Strategies\.(?!Buffered)\w+)\.(?:P?Read|P?Write))"
)
"""Methods between a program and its files, without those that read ahead."""
_AROUND: Final = 0.04
"""The part of a read that passes around its system call, if that takes no more than some microseconds."""
_SEEN: Final = 0.1
"""So much of what calls have of native time must be seen in methods of files: then the rest of them were inlined."""
_CALLS: Final = re.compile(r"^(?:\[|Interop\.|dynamicClass\.IL_STUB)")
"""Frames of calls of native code."""
_MADE: Final = re.compile(r"^dynamicClass\.(?!IL_STUB)")
"""Methods that the program made while it ran."""
_EACH_NS: Final = 50_000
"""What a method takes to be compiled, at least."""
_MANY: Final = 500
_OFTEN: Final = 50
"""Dynamic methods in all, and per second: more than a program makes when it starts."""
_PATH: Final = 0.5
_MOSTLY: Final = 0.85
"""Where there were too few processors, a program that got less of one is hot if so much of it is in one method."""
_LOOP: Final = 1 / 3
"""A method that spins for such a part of its time waits in a loop."""
_SPINNING: Final = re.compile(
    r"\b(Thread\.(?:SpinWait|Yield\w*|UninterruptibleSleep0)|SpinWait|SpinLock|LowLevelSpinWaiter|LowLevelLock)\b"
)
"""Methods that wait by computing."""
_SLEEP: Final = "System.Threading.Thread.Sleep"
_SLEEPLESS: Final = 0.1
"""The part of its time in Sleep in which a thread has a processor, if it sleeps for no time at all."""


def _ready(case: Case, limit: float) -> Verdict:
    ready = case.cited("threads.ready_total")
    ran = case.cited("threads.processor_total" if _known(case, "processor_total") else "threads.running_total")
    limited = case.cited("threads.limited_ready") if _known(case, "limited_ready") else None
    wanted = ready.value - (limited.value if limited else 0)
    whole = wanted + ran.value
    share = wanted / whole if whole else 0.0
    title = (
        f"threads wanted a processor for {ready.of(wanted).text} and had none, {share_text(share)} of that and their "
        "running time"
    )
    evidence = (ready, ran, *([limited] if limited else []))
    if share < limit or wanted < 100_000_000:
        return Clear(title, evidence)
    blamed, more = _blamed(case, whole)
    if blamed.startswith(_OTHER):
        advice = "Look what else runs on the machine, or give the program processors of its own."
        return Ailment(f"{title}: {blamed}", ready.of(wanted), (*evidence, *more), share, _OTHER, advice=advice)
    rows = case.rows("threads", "threads")
    ready_ns = np.where(np.array(rows.column("role").tolist()) == "sampler", 0, rows.numbers("ready_ns"))
    worst = int(ready_ns.argmax())
    name = next(filter(None, (rows.column(column).tolist()[worst] for column in ("name", "thread_name"))), None)
    return Ailment(f"{title}: {blamed}".removesuffix(": "), ready.of(wanted), (*evidence, *more), share, name)


def _known(case: Case, name: str) -> bool:
    return case.value(f"threads.{name}") is not None


def _blamed(case: Case, whole: float) -> tuple[str, tuple[Cited, ...]]:
    """Whose fault it is, as far as counts tell."""
    if not _known(case, "available_total"):
        return "", ()
    available = case.cited("threads.available_total")
    if whole > available.value > 0:
        more = digits(whole / available.value, 2)
        return f"its own threads wanted {more} times the processors that it may use", (available,)
    if _known(case, "machine_total"):
        machine, used = case.cited("threads.machine_total"), case.cited("threads.processor_total")
        others = machine.value - used.value
        if machine.value and others / machine.value >= _OTHERS:
            return f"{_OTHER} used {duration_text(others)} of processor time", (available, machine)
    return "", (available,)


def _limited(case: Case, limit: float) -> Verdict:
    limited, periods = case.cited("threads.limited_periods"), case.cited("threads.limit_periods")
    share = limited.value / periods.value if periods.value else 0.0
    of = f"of {digits(case.value('threads.limit'), 3)} processors " if _known(case, "limit") else ""
    title = f"the limit {of}stopped the program in {limited.value:,} of {counted(int(periods.value), 'period')}"
    if share < limit:
        return Clear(title, (limited, periods))
    return Ailment(title, limited, (limited, periods), share)


def _hot(case: Case, limit: float) -> Verdict:
    rows = case.rows("top", "methods")
    names = rows.column("name").tolist()
    # In their order by processor time.
    named = [row for row, name in enumerate(names) if not name.startswith("[") and not _SPINNING.search(name)]
    if not named:
        return Clear("no method was sampled")
    whole = case.cited(_ALL_NS)
    # Where there were too few processors, it got less than it wanted.
    starved = (case.value("threads.ready_total") or 0) > whole.value
    least = min(limit, max(_MOSTLY * whole.value, _LEAST_NS)) if starved else limit
    hottest = names[named[0]]
    own = _spent(case, least, f"{hottest} used", named[:1], culprit=hottest)
    # A path: the innermost method of the program that has most of all below it, in whatever it calls.
    low, used = (rows.numbers(f"inclusive_processor_{bound}ns") for bound in ("low_", ""))
    by_files = rows.column("own").tolist()
    is_own = [is_own_name(name) if by_file is None else by_file for name, by_file in zip(names, by_files, strict=True)]
    most = [row for row in named if used[row] >= _PATH * whole.value]
    # Where the program is a frame around a library that does the work, the library's.
    path = [row for row in most if is_own[row]] or [row for row in most if is_own_name(names[row])]
    if isinstance(own, Ailment):
        if is_own[named[0]]:
            return own
        caller = case.own_kin(hottest.__eq__)
        # If the caller did little else, what counts is all that it has others do.
        path = [row for row in path if names[row] == caller and own.impact.value >= _PATH * used[row]]
        if not path:
            return attrs.evolve(own, culprit=caller or own.culprit)
    elif not any(low[row] >= limit for row in path):
        return own
    last = min(path, key=lambda row: used[row])
    part = case.cells("top", "methods", "inclusive_processor_ns", [last])
    share = part.value / max(whole.value, 1)
    title = f"{names[last]} and what it calls used {part.text} of processor time, {share_text(share)} of all"
    return Ailment(title, part, (part, whole), share, names[last])


def _spinning(case: Case, limit: float) -> Verdict:
    rows = case.rows("top", "methods")
    names = rows.column("name").tolist()
    busy = rows.numbers("processor_ns") >= _SLEEPLESS * rows.numbers("exclusive_ns")
    spins = [row for row, name in enumerate(names) if _SPINNING.search(name) or (name.startswith(_SLEEP) and busy[row])]
    verdict = _spent(case, limit, "spinning took", spins)
    if isinstance(verdict, Clear):
        standing = case.rows("top", "standing")
        columns = (standing.column(name).tolist() for name in ("method", "state"))
        circling = {method for method, state in zip(*columns, strict=True) if state == "running"}
        circles = [row for row, name in enumerate(names) if name in circling]
        what = "a loop of a few instructions, seen at one address only, took"
        return _spent(case, limit, what, circles, culprit=names[circles[0]]) if circles else verdict
    if not isinstance(verdict, Ailment):
        return verdict
    caller = case.own_kin({names[row] for row in spins}.__contains__)
    loops = [row for row, name in enumerate(names) if name == caller]
    loop = case.cells("top", "methods", "inclusive_processor_ns", loops)
    # The loop around it waits, too, also where what it calls was inlined.
    if not loops or verdict.impact.value < _LOOP * loop.value:
        return attrs.evolve(verdict, culprit=caller)
    total = case.cited(_ALL_NS)
    share = loop.value / max(total.value, 1)
    title = f"{caller}, which spins, took {loop.text} of processor time, {share_text(share)} of all"
    return Ailment(title, loop, (*verdict.evidence, loop), share, caller)


def _compiling(case: Case, limit: float) -> Verdict:
    number = _since_start(case, "compiled")
    if number * _EACH_NS < limit:
        background = case.where("threads", "threads", "role", "tiering".__eq__)
        foreground = case.where("top", "methods", "name", "[jit]".__eq__)
        verdict = _spent(case, limit, "compilation took", foreground, background)
        # What other threads compile, only events tell.
        is_part = isinstance(verdict, Ailment) and case.coverage("jit") == "none"
        return _least(verdict) if is_part else verdict  # type: ignore[arg-type]
    callers = case.where("top", "methods", "name", lambda name: not _CALLS.match(name))
    cost = _to_compile(case, "compiled", number, callers)
    how = f"at {_EACH_NS // 1000} µs each" if cost.side else "estimated by samples in native code"
    title = f"{counted(number, 'method')} were compiled: {cost.text} of processor time, {how}"
    rows, whole = case.rows("top", "methods"), case.cited(_ALL_NS)
    took = zip(rows.numbers("inclusive_processor_ns").tolist(), rows.column("name").tolist(), strict=True)
    # The innermost of the program's methods that may have called as much.
    culprit = min(((ns, name) for ns, name in took if ns >= limit and is_own_name(name)), default=(0, None))[1]
    share = min(cost.value / max(whole.value, 1), 1.0)
    return Ailment(title, cost, (case.cited("trace.compiled"), whole), share, culprit)


def _since_start(case: Case, name: str) -> int:
    """How many methods were compiled, where nothing but their list tells of it: 0 if that may be of before."""
    started = case.value("startup.runtime_to_program") is not None
    return (case.value(f"trace.{name}") or 0) if started and case.coverage("jit") == "none" else 0


def _to_compile(case: Case, which: str, number: int, callers: Sequence[int]) -> Cited:
    """What it took to compile so many methods, where no event says it. The compiler has no frame: it is native code
    below what calls a method first, or each took a little at least."""
    least = Cited(f"trace.{which}", number * _EACH_NS, "ns", side="at least ")
    cost = case.cells("top", "methods", "processor_ns", callers).of(_native(case, callers))
    return max(cost, least, key=lambda cited: cited.value)


def _native(case: Case, methods: Sequence[int]) -> int:
    """How much of these methods' own processor time passed in native code without a frame: in calls that were inlined,
    or in the runtime's work for them."""
    rows = case.rows("top", "methods")
    columns = (f"{name}_ns" for name in ("processor", "exclusive", "running", "waiting"))
    used, took, ran, waited = (rows.numbers(column)[list(methods)] for column in columns)
    return int(((took - ran - waited) / np.maximum(took, 1) * used).sum())


def _making(case: Case, limit: float) -> Verdict:
    rows = case.rows("top", "methods")
    used, names = rows.numbers("inclusive_processor_ns"), rows.column("name").tolist()
    makers = [row for row, name in enumerate(names) if _MAKERS.search(name)]
    # Of those that call one another, the outermost has all.
    worst = max(makers, key=lambda row: used[row], default=None)
    part = case.cells("top", "methods", "inclusive_processor_ns", [] if worst is None else [worst])
    whole = case.cited(_ALL_NS)
    share = part.value / max(whole.value, 1)
    title = f"{part.text} of processor time, {share_text(share)} of all, went into making code while the program runs"
    many = _since_start(case, "dynamic")
    if worst is not None and many >= _MANY and case.per_second(many) >= _OFTEN:
        # Each is compiled when it is first called: by who has it made, by another one, or by what had it made.
        own_caller = dict(zip(names, rows.column("own_caller").tolist(), strict=True))
        caller = own_caller[names[worst]]
        by = {name for name in names if name.startswith(MAKING) and own_caller[name] != caller}
        while caller is not None and caller not in by:
            by.add(caller)
            caller = own_caller.get(caller)
        callers = [row for row, name in enumerate(names) if name in by or _MADE.match(name)]
        cost = _to_compile(case, "dynamic", many, callers)
        # Where the compiler asks managed code about these, its callers seem to run.
        cost = attrs.evolve(cost, value=cost.value + part.value, side="at least ")
        rate = f"{case.per_second(many):,.0f} per second"
        title = f"{many:,} methods were made while the program ran, {rate}: {cost.text} of processor time"
        share = min(cost.value / max(whole.value, 1), 1.0)
        return Ailment(title, cost, (case.cited("trace.dynamic"), part), share, case.own_kin(_MAKERS.search))
    if worst is None or part.value < limit:
        return Clear(title, (part, whole))
    name = names[worst]
    return Ailment(f"{title}, in {name.partition('(')[0]}", part, (part, whole), share, case.own_kin(name.__eq__))


def _awaiting(case: Case, limit: float) -> Verdict:
    awaiting, workers = (case.where("top", "methods", "name", one.match) for one in (_AWAITING, _WORKERS))
    verdict = _spent(case, limit, "suspending and continuing async methods took", awaiting)
    if not isinstance(verdict, Ailment):
        return verdict
    rows = case.rows("top", "methods")
    used = zip(rows.numbers("inclusive_processor_ns").tolist(), rows.column("name").tolist(), strict=True)
    culprit = max((one for one in used if is_own_name(one[1])), default=(0, None))[1]
    more = case.cells("top", "methods", "processor_ns", workers).value
    return attrs.evolve(_least(verdict, more, "in workers that fall asleep and wake"), culprit=culprit)


def _pieces(case: Case, limit: float) -> Verdict:
    rows, culprit = case.rows("top", "methods"), case.own_kin(_FILES.match)
    calls = case.where("top", "methods", "name", _FILES.match)
    took, ran, used = (int(rows.numbers(f"{of}_ns")[calls].sum()) for of in ("exclusive", "running", "processor"))
    inlined = _native(case, case.where("top", "methods", "name", lambda name: name == culprit))
    more = inlined if used >= _SEEN * inlined else 0
    verdict = _spent(case, limit - more, "reading and writing files took", calls)
    if not isinstance(verdict, Ailment) or ran < _AROUND * took:
        return Clear(verdict.title, verdict.evidence)  # type: ignore[union-attr]
    title = f"{verdict.title}, {share_text(ran / took)} of it around the system calls: each moves little"
    return _least(attrs.evolve(verdict, title=title, culprit=culprit), more, "in calls that were inlined")


def _least(found: Ailment, more: float = 0, where: str = "") -> Ailment:
    """With its cost as the least, of which so much more is known: what is inlined counts for its callers."""
    cost = attrs.evolve(found.impact, value=found.impact.value + more, side="at least ")
    share = (found.share or 0) * cost.value / max(found.impact.value, 1)
    title = f"{found.title}, and {duration_text(more)} more {where}" if more else found.title
    return attrs.evolve(found, impact=cost, share=share, title=title)


def _spent(
    case: Case, limit: float, what: str, methods: Sequence[int], threads: Sequence[int] = (), culprit: str | None = None
) -> Verdict:
    """Judged by the least that the estimates of these methods may be; threads are counted."""
    total = case.cited("threads.processor_total")
    low, used = (case.cells("top", "methods", f"processor_{bound}ns", methods) for bound in ("low_", ""))
    counts = [case.cells("threads", "threads", "processor_ns", threads)] if threads else []
    exact = sum(one.value for one in counts)
    share = (used.value + exact) / total.value if total.value else 0.0
    title = f"{what} {duration_text(used.value + exact)} of processor time, {share_text(share)} of all"
    if low.value + exact < limit:
        return Clear(title, (used, *counts, total))
    return Ailment(title, used.of(used.value + exact), (used, *counts, total), share, culprit)


def _memory(case: Case, limit: float) -> Verdict:
    peak = case.cited("threads.resident_peak")
    if not case.value("threads.memory_limit"):
        return Clear("the process has no limit of memory", (peak,))
    most = case.cited("threads.memory_limit")
    share = peak.value / most.value
    title = f"the process had {size_text(peak.value)} of memory at most, {share_text(share)} of its limit"
    if share < limit:
        return Clear(title, (peak, most))
    return Ailment(title, peak, (peak, most), share)


RULES: Final = (
    Rule(
        "cpu.contended",
        "Do threads wait for a processor?",
        ("threads.ready_total",),
        Threshold(0.1, "10 % of the time that threads ran or wanted to, and 100 ms"),
        "A thread that is ready but does not run is slow through no fault of its code.",
        "Run fewer threads, or raise the CPU limit.",
        "the work may wait, as that of a background thread with low priority.",
        "threads {file} --sort ready_ns",
        _ready,
        "sample",
        need=Need(
            "when threads wanted a processor", ("cswitch", f"{OWN}/ProcessorTime"), 0, provider="Universal.Events"
        ),
    ),
    Rule(
        "cpu.limited",
        "Does a limit of processors stop the program?",
        ("threads.limited_periods", "threads.limit_periods"),
        Threshold(0.1, "10 % of the periods of the limit"),
        "All threads stand still until the next period begins, also those that hold locks or collect garbage.",
        "Raise the limit, or run fewer threads: fewer workers and heaps, DOTNET_PROCESSOR_COUNT.",
        "the program may be slow on purpose, and short bursts do no harm where nobody waits.",
        "threads {file} --facts",
        _limited,
        "counted",
        need=_LIMITS,
    ),
    Rule(
        "cpu.hot",
        "Does one method use much of the processor time?",
        ("threads.processor_total",),
        Threshold(
            0.3,
            "30 % of the processor time, and 25 % of one processor; half of it with what the method calls",
            of=_ALL_NS,
            of_window=0.25,
            least=_LEAST_NS,
        ),
        "What makes this method faster, or calls it less often, makes the program cheaper.",
        "Look who calls it, and how often: clrevents callers.",
        "this is the program's work, and it is done well.",
        "top {file}",
        _hot,
        "counted",
        also=("top",),
        need=_COUNTED,
        cost="processor",
    ),
    Rule(
        "cpu.spinning",
        "Do threads wait by computing?",
        ("threads.processor_total",),
        Threshold(0.1, "10 % of the processor time, and 500 ms", of=_ALL_NS, least=_LEAST_NS),
        "Threads that spin take the processor from the one that they wait for.",
        "Wait with what blocks, hold locks for less long, or run fewer threads than processors.",
        "the waits are short, and processors are free; a loop at one address may call one tiny method, and count.",
        "callers {file} '*Spin*'",
        _spinning,
        "counted",
        also=("top",),
        need=_COUNTED,
        cost="processor",
    ),
    Rule(
        "cpu.compiling",
        "Does compilation use much of the processor time?",
        ("threads.processor_total",),
        Threshold(0.2, "20 % of the processor time, and 500 ms", of=_ALL_NS, least=_LEAST_NS),
        "Code is compiled twice or more often: quickly at first, and again in the background where it is hot.",
        "Publish with ReadyToRun; in programs that end soon, try DOTNET_TieredPGO=0.",
        "the recording has little but the start; dear calls of native code that are inlined count as well.",
        "jit {file}",
        _compiling,
        "counted",
        also=("top", "jit", "startup"),
        remedies=(MADE,),
        need=_COUNTED,
        cost="processor",
    ),
    Rule(
        "cpu.making",
        "Is code made again and again while the program runs?",
        ("threads.processor_total",),
        Threshold(0.1, "10 % of the processor time, and 200 ms", of=_ALL_NS, least=200_000_000),
        "Regular expressions, serializers and dynamic methods take milliseconds to make, and little to use.",
        "Make each once and keep it: a static field, a cache, GeneratedRegex, or the static methods of Regex.",
        "each is made once, at the start.",
        "top {file} --sort inclusive_processor_ns",
        _making,
        "counted",
        also=("top", "jit", "startup"),
        need=_COUNTED,
        cost="processor",
    ),
    Rule(
        "cpu.awaiting",
        "Does awaiting use much of the processor time?",
        ("threads.processor_total",),
        Threshold(0.4, "40 % of the processor time, and 500 ms", of=_ALL_NS, least=_LEAST_NS),
        "Each await that suspends allocates, queues, and wakes a worker: more than a small piece of work takes.",
        "Await larger pieces: read into a buffer, process batches, and return what is there already as a ValueTask.",
        "what is awaited does come in such small pieces.",
        "top {file}",
        _awaiting,
        "counted",
        also=("top",),
        need=_COUNTED,
        cost="processor",
    ),
    Rule(
        "cpu.small_reads",
        "Are files read or written in small pieces?",
        ("threads.processor_total",),
        Threshold(0.25, "25 % of the processor time, and 500 ms", of=_ALL_NS, least=_LEAST_NS),
        "Each call of the system takes as long as to copy some kilobytes.",
        "Read through a buffer: a FileStream with a bufferSize of 4096 or more, a BufferedStream, or larger arrays.",
        "the pieces lie far from one another in the file.",
        "callers {file} '*Read*'",
        _pieces,
        "inferred",
        also=("top",),
        need=_COUNTED,
        cost="processor",
    ),
    Rule(
        "memory.limited",
        "Does the process come near its limit of memory?",
        ("threads.resident_peak",),
        Threshold(0.9, "90 % of the limit", "mem-doc: the runtime collects harder from 90 % on"),
        "At the limit the kernel ends the process, and shortly before it the runtime collects all the time.",
        "Raise the limit, or look for what keeps memory: clrevents heap.",
        "much of it belongs to files, which the kernel takes back when it must.",
        "threads {file} --facts",
        _memory,
        "counted",
        need=_LIMITS,
    ),
)
