"""How methods are named that carry async methods: what builds, awaits and continues them, of state machines and of the
runtime's own awaits (.NET 11). Beginnings of names as they are shown, a list for each concept.

Names only: who leaves them out of stacks, and why, is decided there.
"""

from __future__ import annotations

from typing import Final

_COMPILER: Final = "System.Runtime.CompilerServices."
_TASKS: Final = "System.Threading.Tasks."

BUILDERS: Final = (
    f"{_COMPILER}AsyncIteratorMethodBuilder",
    f"{_COMPILER}AsyncMethodBuilderCore",
    f"{_COMPILER}AsyncTaskMethodBuilder",
    f"{_COMPILER}AsyncValueTaskMethodBuilder",
    f"{_COMPILER}AsyncVoidMethodBuilder",
    f"{_COMPILER}PoolingAsyncValueTaskMethodBuilder",
)
"""What runs state machines."""
AWAITERS: Final = (
    f"{_COMPILER}ConfiguredTaskAwaitable",
    f"{_COMPILER}ConfiguredValueTaskAwaitable",
    f"{_COMPILER}TaskAwaiter",
    f"{_COMPILER}ValueTaskAwaiter",
    f"{_COMPILER}YieldAwaitable",
)
"""What an await calls, and what blocks and throws for `GetResult`."""
RUNTIME_ASYNC: Final = (
    f"{_COMPILER}AsyncHelpers.",
    f"{_COMPILER}AsyncProfiler.",
)
"""What suspends and resumes the methods that the runtime itself awaits, and blocks for an async Main."""
CONTINUATIONS: Final = (
    "System.Threading.ExecutionContext.Run",
    f"{_TASKS}AwaitTaskContinuation.",
    f"{_TASKS}Task.FinishContinuations(",
    f"{_TASKS}Task.RunContinuations(",
)
"""What calls methods back when what they await is done."""
