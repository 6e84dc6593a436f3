"""A decoder that was interrupted in the middle of a call says so, and gives no more events as if nothing had been."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

import costly_containers as costly
from clrevents import Decoder, TraceError

DATA = b"".join(costly.endless(3))


def interrupt_after(count: int, error: type[BaseException], step: Any) -> bool:
    """Run a step in which the n-th call of a function raises, as Ctrl-C may; returns whether it came to that."""
    left = count

    def trace(frame: FrameType, event: str, arg: object) -> None:
        nonlocal left
        # What notices an interruption cannot notice its own.
        left -= not frame.f_code.co_qualname.startswith("Calls.")
        if not left:
            raise error

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        step()
    except error:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_nothing_comes_out_of_an_interrupted_decoder(error: type[BaseException]) -> None:
    interrupted = 0
    for count in (*range(1, 12), *range(12, 20_000, 97)):
        decoder = Decoder()
        events = sum(map(len, decoder.feed(DATA[:200])))
        try:
            if not interrupt_after(count, error, lambda decoder=decoder: decoder.feed(DATA[200:])):
                break
            events += sum(map(len, decoder.feed(b"")))
        except RuntimeError:
            interrupted += 1
            for again in (lambda d=decoder: d.feed(DATA), decoder.flush, decoder.close):
                with pytest.raises(
                    RuntimeError, match=f"interrupted by {error.__name__}.*start again with a new decoder"
                ):
                    again()
        else:
            # It had not begun: the bytes can be given again.
            events += sum(map(len, decoder.feed(DATA[200:]))) + sum(map(len, decoder.close()))
            assert events == 9
    else:
        pytest.fail("the call never ended")
    assert interrupted > 20


def test_what_is_no_buffer_leaves_the_decoder_as_it_was() -> None:
    decoder = Decoder()
    with pytest.raises(TypeError):
        decoder.feed("text")  # type: ignore[arg-type]
    assert sum(map(len, decoder.feed(memoryview(DATA)))) == 9


def test_a_closed_decoder_says_each_time_that_it_is_closed() -> None:
    decoder = Decoder()
    decoder.feed(DATA)
    list(decoder.close())
    for _ in range(2):
        with pytest.raises(ValueError, match="closed"):
            decoder.feed(DATA)


def test_a_trace_error_stays_the_error() -> None:
    decoder = Decoder()
    for _ in range(2):
        with pytest.raises(TraceError, match=r"not a \.NET trace"):
            decoder.feed(b"x" * 100)
