"""Kernel 3: objects of one class, each slot from its own list of values.

Sees no bytes: what it puts into slots was validated before. `create`, `put`, and `pause` and `resume` of the
garbage collector are what the engine offers: functions of C in the compiled one, and in the other what
`kernels` gives this module.
"""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined, type-arg"


def fill(cls: type, setters: list, columns: list, rows: int) -> list:
    """`rows` objects of a slotted class; slot k of object i is `columns[k][i]`. No `__init__` runs."""
    made = []
    row = 0
    count = len(setters)
    # Nothing here can become garbage, and no other code runs in between.
    paused = pause()
    try:
        while row < rows:
            item = create(cls)
            slot = 0
            while slot < count:
                values = columns[slot]
                put(setters[slot], item, values[row])
                slot += 1
            made.append(item)
            row += 1
    finally:
        resume(paused)
    return made


def scatter(into: list, rows: list, values: list) -> int:
    """`into[rows[i]] = values[i]` for all; how many there were."""
    at = 0
    count = len(values)
    while at < count:
        into[rows[at]] = values[at]
        at += 1
    return at
