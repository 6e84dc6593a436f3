"""Kernel of heap graphs: who dominates whom, what each one retains, and the shortest ways from the roots.

Integers in, integers out: makes no objects and calls nothing. Nodes are numbers; edges are `targets[offsets[v]]` up to
`targets[offsets[v + 1]]`, of which negative ones lead nowhere. Nothing recurses: a list of a million elements is as
deep as a graph can be. Knows no types, names or addresses.
"""


def descend(
    root: int,
    offsets: list[int],
    targets: list[int],
    number: list[int],
    order: list[int],
    parent: list[int],
    cursor: list[int],
) -> int:
    """Number the nodes that `root` reaches, depth first, each before those found through it.

    `number` is -1 for all nodes at first. `order[k]` is node number k, `parent[k]` the number of the one it was found
    from (0 for the root); `cursor` is room for as many. Returns how many there are.
    """
    count = 1
    number[root] = 0
    order[0] = root
    parent[0] = 0
    cursor[0] = 0
    at = 0
    node = root
    while True:
        edge = offsets[node] + cursor[at]
        end = offsets[node + 1]
        found = -1
        while edge < end:
            target = targets[edge]
            edge += 1
            if target >= 0 and number[target] < 0:
                found = target
                break
        if found >= 0:
            cursor[at] = edge - offsets[node]
            number[found] = count
            order[count] = found
            parent[count] = at
            cursor[count] = 0
            at = count
            node = found
            count += 1
        elif at == 0:
            return count
        else:
            at = parent[at]
            node = order[at]


def reverse(
    count: int,
    offsets: list[int],
    targets: list[int],
    number: list[int],
    order: list[int],
    starts: list[int],
    sources: list[int],
) -> int:
    """The edges the other way round, by number: those into k come from `sources[starts[k]]` up to `starts[k + 1]`.

    `starts` is 0 everywhere at first, and one longer than there are numbers. Returns how many edges there are.
    """
    k = 0
    while k < count:
        node = order[k]
        edge = offsets[node]
        end = offsets[node + 1]
        while edge < end:
            target = targets[edge]
            if target >= 0:
                starts[number[target]] += 1
            edge += 1
        k += 1
    total = 0
    k = 0
    while k < count:
        total += starts[k]
        starts[k] = total
        k += 1
    starts[count] = total
    # From the back, so that each place ends up where its edges begin, and they are in order.
    k = count - 1
    while k >= 0:
        node = order[k]
        edge = offsets[node + 1] - 1
        end = offsets[node]
        while edge >= end:
            target = targets[edge]
            if target >= 0:
                place = starts[number[target]] - 1
                starts[number[target]] = place
                sources[place] = k
            edge -= 1
        k -= 1
    return total


def dominate(
    count: int,
    starts: list[int],
    sources: list[int],
    parent: list[int],
    semi: list[int],
    label: list[int],
    stack: list[int],
    dominator: list[int],
) -> int:
    """The immediate dominator of each number, by the semidominators of Lengauer and Tarjan.

    `parent` is used up; `semi`, `label` and `stack` are room. `dominator[0]` is 0. Returns `count`.
    """
    k = 0
    while k < count:
        semi[k] = k
        label[k] = k
        dominator[k] = parent[k]
        k += 1
    k = count - 1
    while k > 0:
        least = parent[k]
        edge = starts[k]
        end = starts[k + 1]
        while edge < end:
            node = sources[edge]
            edge += 1
            if parent[node] > k:
                # Climb to the top of what was visited, and let everything on the way point there.
                depth = 0
                while parent[node] > k:
                    stack[depth] = node
                    depth += 1
                    node = parent[node]
                above = node
                while depth:
                    depth -= 1
                    node = stack[depth]
                    parent[node] = parent[above]
                    if semi[label[above]] < semi[label[node]]:
                        label[node] = label[above]
                    above = node
            if semi[label[node]] < least:
                least = semi[label[node]]
        semi[k] = least
        k -= 1
    k = 1
    while k < count:
        node = dominator[k]
        while node > semi[k]:
            node = dominator[node]
        dominator[k] = node
        k += 1
    return count


def gather_up(count: int, parent: list[int], sums: list[int]) -> int:
    """Add every number's sum to its parent's, which is smaller; negative parents have none. Returns `count`."""
    k = count - 1
    while k > 0:
        if parent[k] >= 0:
            sums[parent[k]] += sums[k]
        k -= 1
    return count


def fold(count: int, parent: list[int], groups: list[int], top: list[int], depth: list[int]) -> int:
    """Join every number with its parent, which is smaller, where both are of the same group.

    `top[k]` is the uppermost number that k is joined with, `depth[k]` how many such chains are above it. Returns the
    largest depth.
    """
    most = 0
    k = 0
    while k < count:
        above = parent[k]
        if above < 0 or above == k:
            top[k] = k
            depth[k] = 0
        elif groups[above] == groups[k]:
            top[k] = top[above]
            depth[k] = depth[above]
        else:
            top[k] = k
            depth[k] = depth[above] + 1
            if depth[k] > most:
                most = depth[k]
        k += 1
    return most


def outermost(
    count: int,
    parent: list[int],
    groups: list[int],
    sums: list[int],
    first: list[int],
    following: list[int],
    inside: list[int],
    totals: list[int],
) -> int:
    """Add the sums of those of each group that are below no other one of it to the group's total.

    `parent[k] < k`, 0 is the root. `first` and `following` are room; `inside` and `totals`, one for each group, are 0
    at first. Returns how many were added.
    """
    k = 0
    while k < count:
        first[k] = -1
        k += 1
    k = count - 1
    while k > 0:
        following[k] = first[parent[k]]
        first[parent[k]] = k
        k -= 1
    added = 0
    k = 0
    while True:
        group = groups[k]
        if inside[group] == 0:
            totals[group] += sums[k]
            added += 1
        inside[group] += 1
        if first[k] >= 0:
            k = first[k]
        else:
            inside[group] -= 1
            while k > 0 and following[k] < 0:
                k = parent[k]
                inside[groups[k]] -= 1
            if k == 0:
                return added
            k = following[k]


def spread(offsets: list[int], targets: list[int], parent: list[int], queue: list[int], filled: int) -> int:
    """Reach nodes from the first `filled` of `queue`, nearest first; `parent` is -2 for those not reached yet.

    Returns how many were reached: they are in `queue` in this order, and `parent[v]` is the node before v.
    """
    head = 0
    tail = filled
    while head < tail:
        node = queue[head]
        head += 1
        edge = offsets[node]
        end = offsets[node + 1]
        while edge < end:
            target = targets[edge]
            edge += 1
            if target >= 0 and parent[target] == -2:
                parent[target] = node
                queue[tail] = target
                tail += 1
    return tail
