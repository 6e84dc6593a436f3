"""A program that embeds the library keeps its process: importing, opening and reading change nothing in it.

Asks fresh interpreters, because this one has seen too much.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Final

import pytest

from command_runs import printed
from project_files import fixture

SAMPLE: Final = fixture("net8-sample")

READ: Final = """
import clrevents, clrevents.analysis, sys
def read(source, **options):
    with clrevents.open(source, **options) as trace:
        n = len(list(trace.events()))
        repr(trace), trace.summary(), trace.check(), trace.methods, trace.stacks
        [len(table) for tables in trace.tables() for table in tables.values()]
        [repr(answer) for answer in trace.reports().values()]
        return n
"""
OWN: Final = """
from clrevents.testing.builder import TraceBuilder
def own(number):
    fields = {f"Number{number}": (9, number), "Inner": (1, {"Text": (18, "x")})}
    return TraceBuilder().described("App", "Own", fields).build()
"""
# What a program can ask about itself, of what it may have chosen.
STATE: Final = """
import decimal, faulthandler, gc, linecache, locale, os, random, signal, sys, threading, time, warnings
import attrs, numpy  # not ours, and they change the process
def state():
    mask = os.umask(0)
    os.umask(mask)
    return {
        "collector": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), list(gc.callbacks), gc.get_debug()),
        "signals": [signal.getsignal(number) for number in sorted(signal.valid_signals())],
        "threads": [thread.name for thread in threading.enumerate()],
        "tasks": len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0,
        "environment": dict(os.environ),
        "locale": locale.setlocale(locale.LC_ALL),
        "time zone": (time.tzname, time.timezone),
        "warnings": (list(warnings.filters), warnings.showwarning, sys.warnoptions),
        "hooks": (sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook, sys.gettrace(),
                  sys.getprofile(), sys.breakpointhook, sys.stdout, sys.stderr, sys.stdin),
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), threading.stack_size()),
        "digits": sys.get_int_max_str_digits(),
        "place": (os.getcwd(), mask, list(sys.path), sys.meta_path[:], sys.path_hooks[:]),
        "arithmetic": (repr(decimal.getcontext()), numpy.geterr(), numpy.get_printoptions(), random.getstate()),
        "faults": faulthandler.is_enabled(),
    }
"""


def test_a_process_is_left_as_it_was() -> None:
    code = """
def same(before, when):
    after = state()
    assert after == before, (when, [name for name in before if after[name] != before[name]])
before = state()
import clrevents
same(before, "importing")
for name in clrevents.__all__: getattr(clrevents, name)
same(before, "importing every name")
for _ in range(2):
    read(sys.argv[1])
    read(open(sys.argv[1], "rb"), errors="salvage")
    same(before, "reading")
    # What the program chose stays chosen.
    gc.set_threshold(123, 4, 5)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    warnings.simplefilter("error")
    before = state()
"""
    printed("-c", STATE + READ.replace("import clrevents, clrevents.analysis, sys", "") + code, SAMPLE)


@pytest.mark.full
@pytest.mark.parametrize("choice", ["enable", "disable"])
def test_the_collector_is_never_switched(choice: str) -> None:
    """Nor for a moment, which another thread would see: asked at every call while reading."""
    code = f"""
import gc
read(sys.argv[1])
gc.{choice}()
seen = set()
sys.setprofile(lambda *event: seen.add((gc.isenabled(), gc.get_threshold(), gc.get_freeze_count())))
read(sys.argv[1])
sys.setprofile(None)
print(seen == {{(gc.isenabled(), gc.get_threshold(), 0)}}, gc.isenabled())
"""
    assert printed("-c", READ + code, SAMPLE) == f"True {choice == 'enable'}\n"


@pytest.mark.full
def test_classes_of_traces_leave_no_source_lines() -> None:
    code = """
import linecache, pickle
read(own(0))
before = set(linecache.cache)
for number in range(1, 6):
    read(own(number))
    with clrevents.open(own(number)) as trace:
        (event,) = trace.events()
        assert pickle.loads(pickle.dumps(event)) == event
print(sorted(set(linecache.cache) - before), sum("Learned" in name for name in linecache.cache))
"""
    assert printed("-c", READ + OWN + code) == "[] 0\n"


MALLOC: Final = """
import ctypes
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
        ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]
libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Info
def own_mapping():
    "Whether a large block is a mapping of its own, which freeing it gives back to the system at once."
    before = libc.mallinfo2().hblks
    block = bytearray(20 << 20)
    return libc.mallinfo2().hblks - before == 1
"""
glibc = pytest.mark.skipif(
    not (sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallinfo2")), reason="needs mallinfo2 of glibc 2.33"
)


@pytest.mark.full
@glibc
def test_the_allocator_is_left_as_it_was() -> None:
    code = "read(sys.argv[1])\nread(open(sys.argv[1], 'rb'))\nprint(own_mapping())"
    assert printed("-c", MALLOC + READ + code, SAMPLE) == "True\n"


@pytest.mark.full
@glibc
def test_tuning_keeps_freed_memory() -> None:
    assert printed("-c", MALLOC + "import clrevents\nclrevents.tune_process()\nprint(own_mapping())") == "False\n"


@pytest.mark.full
@glibc
@pytest.mark.parametrize(("chosen", "pool"), [(None, "system"), ("mimalloc", "mimalloc")])
def test_tuned_pyarrow_uses_the_memory_that_is_kept(
    monkeypatch: pytest.MonkeyPatch, chosen: str | None, pool: str
) -> None:
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    if chosen:
        monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", chosen)
    code = (
        "import clrevents\nclrevents.tune_process()\nimport pyarrow as pa\nprint(pa.default_memory_pool().backend_name)"
    )
    assert printed("-c", code) == f"{pool}\n"


@pytest.mark.full
def test_tuning_lets_the_collector_run_less_often() -> None:
    code = """
import clrevents, gc
def tuned(*thresholds):
    gc.set_threshold(*thresholds)
    clrevents.tune_process()
    return gc.get_threshold()
print(tuned(700, 10, 10)[:2], tuned(0, 10, 10)[:2], tuned(100_000, 5, 5)[:2], gc.isenabled())
gc.disable()
clrevents.tune_process()
print(gc.isenabled())
"""
    assert printed("-c", code) == "(50000, 20) (0, 10) (100000, 20) True\nFalse\n"


@pytest.mark.full
def test_the_command_tunes_itself(tmp_path: Path) -> None:
    """The command is a process of its own, so it may."""
    code = "import gc, sys\nfrom clrevents.__main__ import main\nsys.argv[1:] = ['--version']\n"
    code += "try: main()\nexcept SystemExit: print(gc.get_threshold()[:2])"
    assert printed("-c", code).endswith("(50000, 20)\n")


SEEN: Final = """
import clrevents, hashlib
def seen(path):
    "A digest of all that every event shows."
    digest = hashlib.sha256()
    with clrevents.open(path) as trace:
        for event in trace.events():
            digest.update(repr((event.time_ns, event.thread_id, event.provider, event.name, event.stack)).encode())
            digest.update(repr(event.payload).encode())
        digest.update(repr((sorted(trace.event_counts().items()), trace.lost, len(trace.methods))).encode())
    return digest.hexdigest()
"""
OTHER: Final = fixture("net10-method-interop")


@pytest.mark.full
def test_a_forked_process_goes_on_and_so_does_its_parent() -> None:
    """A child reads on from where a half-read trace was, and a trace of its own; its parent notices nothing."""
    code = """
import os, sys
def rest(events):
    text = "".join(repr((e.time_ns, e.thread_id, e.name, e.payload)) for e in events)
    return hashlib.sha256(text.encode()).hexdigest()
path = sys.argv[1]
whole = seen(path)
with clrevents.open(path) as trace, open(path, "rb") as file, clrevents.open(file) as other:
    events, others = iter(trace.events()), iter(other.events())
    for _ in range(200): next(events), next(others)
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        os.write(tell, repr((rest(events), rest(others), seen(path))).encode())
        os._exit(0)
    os.close(tell)
    mine = (rest(events), rest(others), seen(path))
    with open(told) as pipe: theirs = eval(pipe.read())
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), mine == theirs, mine[0] == mine[1], mine[2] == whole)
"""
    assert printed("-c", SEEN + code, SAMPLE) == "0 True True True\n"


@pytest.mark.full
@glibc
def test_the_allocator_keeps_its_settings() -> None:
    """What mallopt sets stays set; and what reading took can be given back."""
    code = """
import gc, sys
M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_ARENA_MAX = -3, -1, -8
for setting, value in ((M_MMAP_THRESHOLD, 1 << 30), (M_TRIM_THRESHOLD, 1 << 30)):
    assert libc.mallopt(setting, value)
read(sys.argv[1])
print(own_mapping())
read(sys.argv[1])
gc.collect()
before = libc.mallinfo2().uordblks
for _ in range(3): read(sys.argv[1])
gc.collect()
print(abs(libc.mallinfo2().uordblks - before) < 1 << 20)
"""
    assert printed("-c", MALLOC + READ + code, SAMPLE) == "False\nTrue\n"


def test_the_command_spares_its_collector_what_is_imported() -> None:
    """It is off meanwhile, and on afterwards, unless it was off before."""
    code = "import gc, sys\nfrom clrevents.__main__ import main\nsys.argv[1:] = ['sample', '--help']\n"
    code += "gc.{}able()\ntry: main()\nexcept SystemExit: print(gc.isenabled(), gc.get_freeze_count() > 10_000)"
    assert printed("-c", code.format("en")).endswith("True True\n")
    assert printed("-c", code.format("dis")).endswith("False False\n")
