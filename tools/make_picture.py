"""Writes docs/pictures/top.svg, README's picture: what `clrevents top` prints of a fixture, as in a terminal.

    python tools/make_picture.py           write it
    python tools/make_picture.py --check   end with 1 if it no longer says what the command prints

Compares texts only: how a terminal is drawn is rich's business and changes with its versions.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from rich.console import Console
from rich.text import Text

ROOT: Final = Path(__file__).resolve().parents[1]
PICTURE: Final = ROOT / "docs" / "pictures" / "top.svg"
ARGUMENTS: Final = ("top", "fixtures/net8-netperf3.netperf.gz", "-n", "8")
COLUMNS: Final = 112


def drawn() -> str:
    """The picture of the command and of what it prints now."""
    command = [sys.executable, "-m", "clrevents", *ARGUMENTS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold green"), (" ".join(("clrevents", *ARGUMENTS)), "bold")))
    console.print(Text(done.stdout.rstrip("\n")))
    svg = console.export_svg(title="clrevents", unique_id="top")
    # A page that shows the picture must not have to ask a third one for letters.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def words(svg: str) -> list[str]:
    """The words in a picture, in the order in which they are read."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return "".join(text.text or "" for text in texts).replace("\N{NO-BREAK SPACE}", " ").split()


def main() -> None:
    """Write or check."""
    svg = drawn()
    if "--check" not in sys.argv[1:]:
        PICTURE.write_text(svg, encoding="utf-8", newline="\n")
    elif words(svg) != words(PICTURE.read_text(encoding="utf-8")):
        sys.exit(f"{PICTURE.relative_to(ROOT)} is out of date: python tools/make_picture.py")


if __name__ == "__main__":
    main()
