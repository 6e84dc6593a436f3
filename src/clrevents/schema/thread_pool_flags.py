"""Why the thread pool changes its number of workers. Declares it; decides nothing."""

from clrevents.schema.flags import OpenEnum


class ThreadAdjustmentReason(OpenEnum):
    """Why the thread pool changes its target number of workers (manifest: ThreadAdjustmentReasonMap, up to 7).

    Source: `PortableThreadPool.HillClimbing.StateOrTransition`.
    """

    Warmup = 0
    Initializing = 1
    RandomMove = 2
    ClimbingMove = 3
    ChangePoint = 4
    Stabilizing = 5
    Starvation = 6
    ThreadTimedOut = 7
    CooperativeBlocking = 8
