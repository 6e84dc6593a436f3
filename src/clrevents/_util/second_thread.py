"""Calls that a second thread makes, one after the other, while this one goes on.

They are made in the order in which they were given, so what they do is the same as with one thread. Few wait at a
time: they hold memory. Knows nothing of what they do; it pays where they spend their time outside the interpreter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final

_WAITING: Final = 2


class SecondThread:
    """Makes calls in another thread; with `workers` of 1, in this one and at once.

    What a call raises, a later `call` raises, or `finish`. Leaving the `with` block early drops the calls that wait;
    in any case none is running then.
    """

    def __init__(self, workers: int) -> None:
        self._thread = ThreadPoolExecutor(1, "clrevents-second") if workers > 1 else None
        self._given: deque[Future[Any]] = deque()

    def call(self, function: Callable[..., object], *args: Any) -> None:
        """Have this called. Waits while two calls are not done, and raises what one of them raised."""
        if self._thread is None:
            function(*args)
            return
        self._wait(_WAITING - 1)
        self._given.append(self._thread.submit(function, *args))

    def finish(self) -> None:
        """Wait until everything is done. Raises what a call raised."""
        self._wait(0)

    def _wait(self, left: int) -> None:
        while len(self._given) > left:
            # One that is waited for is still there if this is interrupted.
            self._given[0].result()
            self._given.popleft()

    def __enter__(self) -> SecondThread:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._thread is None:
            return
        self._thread.shutdown(wait=False, cancel_futures=True)
        interrupt = None
        # Not joined: before Python 3.13, an interrupt of `join` is taken for the end of the thread.
        while self._given:
            try:
                with suppress(CancelledError):
                    self._given[0].exception()
                self._given.popleft()
            except KeyboardInterrupt as again:
                # What is being written is about to be removed.
                interrupt = again
        if interrupt is not None and kind is None:
            raise interrupt
