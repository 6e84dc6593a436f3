#!/usr/bin/env python
"""Write what is derived from the code and kept in the repository, or say what is out of date.

    python tools/make.py [--check] [WHAT…]

WHAT is `index` (schema/_index.py), `events`, `commands` or `rules` (pages of docs/), or `stubs` (.pyi files), which are
made unless one is named, or `pictures` or `notebooks`, which take longer. Tests compare all of them. Pages that only
the site has are not made here but by tools/site_hook.py.
"""

from __future__ import annotations

import argparse
import importlib
import operator
import os
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
QUICK: Final = ("index", "events", "commands", "rules", "stubs")
SLOW: Final = ("pictures", "notebooks")


def main() -> int:
    """Write, or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="WHAT", default=QUICK)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if something is out of date")
    given = parser.parse_args()
    if unknown := set(given.what) - {*QUICK, *SLOW}:
        parser.error(f"nothing is called {', '.join(sorted(unknown))}")
    stale = 0
    for what in given.what:
        maker = importlib.import_module(f"derived.{what}")
        same = getattr(maker, "same", operator.eq)
        for path, text in maker.files().items():
            if path.exists() and same(path.read_text("utf-8"), text):
                continue
            stale += 1
            if given.check:
                print(f"{path.relative_to(ROOT)} is out of date: run python tools/make.py {what}")
            else:
                path.write_text(text, encoding="utf-8", newline="\n")
        if what == "index" and stale and not given.check:
            # The registry of this process was read by the old one.
            os.execv(sys.executable, [sys.executable, *sys.argv])
    return 1 if given.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
