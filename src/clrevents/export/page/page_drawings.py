"""Charts of a page that another process draws, while this one makes the rest of the page.

What draws them takes half a second to start, and more memory than most traces. If anything goes wrong in the other
process, this one draws them itself, to the same bytes: it says what was wrong, if it meets it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from itertools import chain, islice
from typing import Final, TypeAlias

from clrevents._util.workers import Workers
from clrevents.analysis.framework.render.charts import Chart
from clrevents.analysis.framework.render.inline_svg import Drawing

Begin: TypeAlias = Callable[[Chart, int], Callable[[], tuple[str, bool]]]
"""What begins to draw a chart of at most so many bytes, and returns what waits for its `inline_svg`."""

_FIRST: Final = Drawing({"title": "A text", "mark": "point"}, "", 0)


def charts_possible() -> bool:
    """Whether the library that draws charts is installed."""
    return find_spec("vl_convert") is not None


def drawn_later(chart: Chart, most: int) -> Callable[[], tuple[str, bool]]:
    """By this process, when it is waited for."""
    return partial(chart.inline_svg, most)


@contextmanager
def drawn_meanwhile(jobs: int) -> Iterator[Begin]:
    """By another process, which starts now and ends with this; by this one if there is to be one job, or can be only
    one process."""
    workers = None
    if jobs > 1 and charts_possible():
        with suppress(OSError, RuntimeError):
            workers = Workers(1)
    if workers is None:
        yield drawn_later
        return
    try:
        # The library starts with the first drawing.
        _submit(workers, _FIRST)
        yield partial(_begun, workers)
    finally:
        # It may still be drawing a chart that is no longer needed.
        workers.end(wait=False)
        workers.kill()


def _begun(workers: Workers, chart: Chart, most: int) -> Callable[[], tuple[str, bool]]:
    attempts = ((drawing, coarser, _submit(workers, drawing)) for drawing, coarser in chart.drawings(most))
    first = list(islice(attempts, 1))

    def finished() -> tuple[str, bool]:
        for drawing, coarser, future in chain(first, attempts):
            if svg := _result(drawing, future):
                return svg, coarser
        return "", True

    return finished


def _submit(workers: Workers, drawing: Drawing) -> Future[str] | None:
    try:
        return workers.submit(_drawn, drawing)
    except (OSError, RuntimeError):
        # It died.
        return None


def _result(drawing: Drawing, future: Future[str] | None) -> str:
    if future is not None:
        with suppress(Exception):
            return future.result()
    return drawing.svg()


def _drawn(drawing: Drawing) -> str:
    """Runs in the other process."""
    return drawing.svg()
