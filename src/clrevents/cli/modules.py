"""`clrevents modules`: the modules of a process. Parses options and lays out the report of `analysis`."""

from __future__ import annotations

import click

from clrevents.analysis.modules import ModuleReport, ModuleRow, module_report
from clrevents.cli.output import Output, safe
from clrevents.cli.reading import FailOn, errors_option, fail_on_option, file_argument
from clrevents.cli.reporting import mark, ms, number, run_report, say_losses, say_missing, say_nothing
from clrevents.errors import ErrorMode
from clrevents.words import counted


@click.command(name="modules")
@file_argument
@click.option("--paths", is_flag=True, help="Instead: where each module is, its assembly and its PDB.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with everything.")
@errors_option
@fail_on_option("damage")
def command(file: str, paths: bool, as_json: bool, errors: ErrorMode, fail_on: FailOn) -> int:
    """List the modules: when they came and went, and how many of their methods were compiled or found precompiled.

    \b
    Which modules are not precompiled, and what does that cost?
        clrevents modules app.nettrace
    Which PDBs does this trace need?
        clrevents modules app.nettrace --json | jq -r '.modules[] | "\\(.pdb_signature) \\(.pdb_path)"'

    A module without a load time was there before the trace began, one without an unload time stayed to its end.
    `jitted` methods were compiled, in `ms` to so many `bytes`; of `r2r` methods precompiled code was found.
    """

    def show(out: Output, found: ModuleReport) -> None:
        if as_json:
            out.json(found.to_dict())
            return
        _show(out, found, paths)
        say_losses(out, found.lost)

    return run_report(file, errors, fail_on, module_report, show)


def _show(out: Output, found: ModuleReport, paths: bool) -> None:
    kinds: dict[str, int] = {}
    for module in found.modules:
        kinds[module.kind] = kinds.get(module.kind, 0) + 1
    told = ", ".join(f"{n:,} {kind}" for kind, n in sorted(kinds.items(), key=lambda k: -k[1]))
    out.line(f"{counted(len(found.modules), 'module')}{f': {told}' if told else ''}")
    if not found.modules:
        say_nothing("modules", "0x8:4")
        return
    out.line()
    if paths:
        _places(out, found.modules)
        return
    say_missing(found.missing)
    head = "loaded ms", "unloaded", "", "jitted", "ms", "bytes", "r2r", "kind", "module"
    rows = []
    jitted = any(m.compilations for m in found.modules)
    timed = any(m.compile_ns for m in found.modules)
    asked = any(m.precompiled or m.missed for m in found.modules)
    for m in found.modules:
        sums = (
            number(m.jitted if jitted else None),
            ms(m.compile_ns if timed else None),
            number(m.native_size if jitted else None),
            number(m.precompiled if asked else None),
        )
        rows.append((ms(m.loaded_ns), ms(m.unloaded_ns), mark(m.lossy), *sums, m.kind, m.name))
    out.filled(head, rows, right={"loaded ms", "unloaded", "jitted", "ms", "bytes", "r2r"})
    if found.elsewhere:
        out.line()
        methods = counted(found.elsewhere, "method was", "methods were")
        out.line(f"{methods} compiled or looked up whose module the trace does not tell")


def _places(out: Output, modules: tuple[ModuleRow, ...]) -> None:
    for m in modules:
        out.line(safe(m.name))
        lines = [("assembly", m.assembly), ("file", m.path), ("native file", m.native_path)]
        if m.pdb_signature is not None:
            lines.append(("pdb", f"{m.pdb_signature} age {m.pdb_age}, {m.pdb_path}"))
        if m.native_build_id:
            lines.append(("build id", m.native_build_id))
        out.lines(safe(f"  {name:11}  {text}") for name, text in lines if text)
