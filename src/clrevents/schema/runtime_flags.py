"""How a runtime was set up: what its own events say, and what reports ask of them."""

from clrevents.schema.flags import OpenFlag


class StartupFlags(OpenFlag):
    """Options set by the host (manifest: StartupFlagsMap, up to 0x400000; source: `STARTUP_FLAGS`, mscoree.idl)."""

    CONCURRENT_GC = 0x1
    LOADER_OPTIMIZATION_SINGLE_DOMAIN = 0x2
    LOADER_OPTIMIZATION_MULTI_DOMAIN = 0x4
    LOADER_SAFEMODE = 0x10
    LOADER_SETPREFERENCE = 0x100
    SERVER_GC = 0x1000
    HOARD_GC_VM = 0x2000
    SINGLE_VERSION_HOSTING_INTERFACE = 0x4000
    LEGACY_IMPERSONATION = 0x10000
    DISABLE_COMMITTHREADSTACK = 0x20000
    ALWAYSFLOW_IMPERSONATION = 0x40000
    TRIM_GC_COMMIT = 0x80000
    ETW = 0x100000
    SERVER_BUILD = 0x200000
    ARM = 0x400000
    SINGLE_APPDOMAIN = 0x800000
    APPX_APP_MODEL = 0x1000000
    DISABLE_RANDOMIZED_STRING_HASHING = 0x2000000
