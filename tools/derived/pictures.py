"""docs/pictures: top.svg, README's, what `clrevents top` prints of a fixture, as in a terminal; and charts.

Compares texts only: how a terminal or a chart is drawn is another library's business and changes with its versions.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
import warnings
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from rich.console import Console
from rich.text import Text

ROOT: Final = Path(__file__).resolve().parents[2]
PICTURES: Final = ROOT / "docs" / "pictures"
ARGUMENTS: Final = ("top", "fixtures/net8-netperf3.netperf.gz", "-n", "8")
COLUMNS: Final = 112
CHARTS: Final = {
    "alloc-rate.svg": ("alloc", "fixtures/net10-garbage.nettrace.gz", "--chart", "rate"),
    "counters-gc.svg": ("counters", "fixtures/net8-counters.nettrace.gz", "--name", "gc-*", "--chart", "values"),
    "gc-heap.svg": ("gc", "fixtures/net10-garbage.nettrace.gz", "--chart", "heap"),
    "pool-workers.svg": ("pool", "fixtures/net10-starvation.nettrace.gz", "--chart", "workers"),
    "tasks-latency.svg": ("tasks", "fixtures/net10-starvation.nettrace.gz", "--chart", "latency"),
    "thread-states.svg": ("threads", "fixtures/net10-convoy.nettrace.gz", "--chart", "states"),
}

PAGE_CHARTS: Final = {"requests-waterfall.svg": ("cookbook/slowest-requests.md", "waterfall")}
"""Charts of the `report` that the examples of a page make, where no fixture has such events."""


def files() -> dict[Path, str]:
    """The pictures with their texts."""
    pictures = {"top.svg": drawn(), **{name: printed(*chart) for name, chart in CHARTS.items()}}
    pictures |= {name: of_page(*chart) for name, chart in PAGE_CHARTS.items()}
    return {PICTURES / name: svg for name, svg in pictures.items()}


def same(one: str, other: str) -> bool:
    """Whether two pictures say the same."""
    return words(one) == words(other)


def drawn() -> str:
    """The picture of the command and of what it prints now."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold green"), (" ".join(("clrevents", *ARGUMENTS)), "bold")))
    console.print(Text(printed(*ARGUMENTS).rstrip("\n")))
    svg = console.export_svg(title="clrevents", unique_id="top")
    # A page that shows the picture must not have to ask a third one for letters.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def printed(*arguments: str) -> str:
    """What the command prints."""
    command = [sys.executable, "-m", "clrevents", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout


def of_page(page: str, chart: str) -> str:
    """A chart of the report that a page's examples make."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    quiet = redirect_stdout(io.StringIO())
    with quiet, warnings.catch_warnings(), tempfile.TemporaryDirectory() as place, chdir(place):
        warnings.simplefilter("ignore")
        for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            exec(block, names)
    found: str = next(one for one in names["report"].charts() if one.name == chart).svg()
    return found


def words(svg: str) -> list[str]:
    """The words in a picture, in the order in which they are read."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return "".join(text.text or "" for text in texts).replace("\N{NO-BREAK SPACE}", " ").split()
