"""Kernel 3: objects of one class, each slot from its own list of values or column of numbers.

Sees no bytes: what it puts into slots was validated before. `create` and `put`, and `forget`, which takes a list off
the garbage collector's, are what the engine offers: functions of C in the compiled one, and in the other what
`kernels` gives this module.
"""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined, type-arg"


def fill(
    cls: type,
    setters: list,
    columns: list,
    places: list[int],
    unsigned: list[int],
    signed: list[int],
    first: int,
    last: int,
) -> list:
    """The objects `first` to `last` of a slotted class; no `__init__` runs.

    Slot k of object i is `columns[k][i]`, or an int where `columns[k]` is None: the number at `places[k] + i` of
    `unsigned`, and where `places[k]` is negative that at `i - places[k] - 1` of `signed`.
    """
    made = []
    row = first
    count = len(setters)
    while row < last:
        item = create(cls)
        slot = 0
        while slot < count:
            values = columns[slot]
            if values is not None:
                put(setters[slot], item, values[row])
            else:
                at = places[slot]
                if at < 0:
                    put(setters[slot], item, signed[row - at - 1])
                else:
                    put(setters[slot], item, unsigned[row + at])
            slot += 1
        made.append(item)
        row += 1
    forget(made)
    return made


def scatter(into: list, rows: list, values: list) -> int:
    """`into[rows[i]] = values[i]` for all; how many there were."""
    at = 0
    count = len(values)
    while at < count:
        into[rows[at]] = values[at]
        at += 1
    return at
