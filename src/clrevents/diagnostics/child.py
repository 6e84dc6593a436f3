"""A program started by us to be recorded from its first event: suspended if its runtime supports that, then resumed.

Its runtime connects to a port that only this user can reach. Processes that it starts in turn would wait for us, too,
so they are resumed immediately. Knows nothing of recordings.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from clrevents.diagnostics.discovery import find_runtimes
from clrevents.diagnostics.dotnet_process import Process
from clrevents.diagnostics.driving import request, run
from clrevents.diagnostics.faults import UNKNOWN_COMMAND, DiagnosticsError
from clrevents.diagnostics.listening import Listener
from clrevents.diagnostics.messages import ResumeRuntime
from clrevents.diagnostics.runtime_requests import info

_LOOK: Final = 0.05
_END_SECONDS: Final = 10.0


class Child:
    """A started program. A context manager: one that was not resumed when it is left is killed, since nothing else
    would ever end it."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="clrevents-"))
        self._suspended = True
        try:
            self._listener = Listener(str(self._folder / "port"))
            ports = {"DOTNET_DiagnosticPorts": f"{self._listener.endpoint},suspend"}
            try:
                self._program = subprocess.Popen(command, env={**os.environ, **(variables or {}), **ports})
            except OSError as error:
                self._listener.close()
                raise DiagnosticsError(f"cannot start {command[0]}: {error.strerror or error}") from None
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self.pid = self._program.pid
        self._process: Process | None = None

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        if self._suspended and self._program.poll() is None:
            self._program.kill()
            self._program.wait()
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def wait_for_runtime(self, given_up: Callable[[], bool]) -> Process | None:
        """The first .NET process that it is or starts; None if `given_up`.

        Raises DiagnosticsError if it ends before there is one. `suspended` then tells whether it waits.
        """
        while not given_up():
            with contextlib.suppress(DiagnosticsError):
                self._process = Process.dialled(self._listener, _LOOK)
                return self._process
            if self._program.poll() is not None:
                raise DiagnosticsError(
                    f"the program ended with {self._program.returncode} before .NET started in it: nothing was recorded"
                )
            old = self._too_old()
            if old is not None:
                self._suspended = False
                self._process = old
                return old
        return None

    @property
    def suspended(self) -> bool:
        """Whether its runtime waits to be resumed."""
        return self._suspended

    def _too_old(self) -> Process | None:
        """The program itself, if it is a .NET Core 3 program, which does not connect to ports and so did not wait."""
        for process in find_runtimes(pid=self.pid):
            if process.pid == self.pid and not process.elsewhere:
                try:
                    run(info(process.endpoint), "process information", 2)
                except DiagnosticsError as error:
                    return process if error.hresult == UNKNOWN_COMMAND else None
        return None

    def resume(self) -> None:
        """Let it go on."""
        assert self._process is not None
        self._process.resume()
        self._suspended = False

    def let_others_go(self) -> None:
        """Resume .NET processes that it started, which are not recorded."""
        with contextlib.suppress(DiagnosticsError):
            run(request(self._listener.wait(0.001), ResumeRuntime()), "to resume", 2)

    def signal(self, number: int) -> None:
        """Pass on a signal."""
        with contextlib.suppress(OSError):
            self._program.send_signal(number)

    def wait(self, given_up: Callable[[], bool]) -> int | None:
        """Its exit code, once it has ended; None if `given_up`."""
        while not given_up():
            try:
                return self._program.wait(_LOOK)
            except subprocess.TimeoutExpired:
                self.let_others_go()
        return None

    def end(self) -> int:
        """Its exit code: ask it to end, and kill it if that does not help."""
        self._program.terminate()
        until = time.monotonic() + _END_SECONDS
        code = self.wait(lambda: time.monotonic() > until)
        if code is None:
            self._program.kill()
            code = self._program.wait()
        return code
