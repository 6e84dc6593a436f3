"""What is said of an exception when it is thrown. Declares it; decides nothing."""

from clrevents.schema.flags import OpenFlag


class ExceptionThrownFlags(OpenFlag):
    """Properties of a thrown exception (manifest: ExceptionThrownFlagsMap; source: eventtracebase.h)."""

    HasInnerException = 0x1
    Nested = 0x2
    ReThrown = 0x4
    CorruptedState = 0x8
    CLSCompliant = 0x10
