"""Every event class and enum, flat: `from clrevents.events import MethodLoadVerbose_V2, StubFlags`.

A name loads its family when it is first asked for. The list is generated (tools/make_index.py).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from clrevents.schema._index import EXPORTS

if TYPE_CHECKING:
    from clrevents.schema.events.diagnostic_source import Activity1Start_V0 as Activity1Start_V0
    from clrevents.schema.events.diagnostic_source import Activity1Stop_V0 as Activity1Stop_V0
    from clrevents.schema.events.diagnostic_source import Activity2Start_V0 as Activity2Start_V0
    from clrevents.schema.events.diagnostic_source import Activity2Stop_V0 as Activity2Stop_V0
    from clrevents.schema.events.method_legacy import DCEndCompleteV2_V0 as DCEndCompleteV2_V0
    from clrevents.schema.events.rundown_marks import DCEndComplete_V0 as DCEndComplete_V0
    from clrevents.schema.events.rundown_marks import DCEndComplete_V1 as DCEndComplete_V1
    from clrevents.schema.events.rundown_marks import DCEndInit_V0 as DCEndInit_V0
    from clrevents.schema.events.rundown_marks import DCEndInit_V1 as DCEndInit_V1
    from clrevents.schema.events.method_legacy import DCStartCompleteV2_V0 as DCStartCompleteV2_V0
    from clrevents.schema.events.rundown_marks import DCStartComplete_V0 as DCStartComplete_V0
    from clrevents.schema.events.rundown_marks import DCStartComplete_V1 as DCStartComplete_V1
    from clrevents.schema.events.rundown_marks import DCStartInit_V0 as DCStartInit_V0
    from clrevents.schema.events.rundown_marks import DCStartInit_V1 as DCStartInit_V1
    from clrevents.schema.events.diagnostic_source import DiagnosticArgument as DiagnosticArgument
    from clrevents.schema.events.diagnostic_source import Event_V0 as Event_V0
    from clrevents.schema.events.interop import ILStubCacheHit_V0 as ILStubCacheHit_V0
    from clrevents.schema.events.interop import ILStubGenerated_V0 as ILStubGenerated_V0
    from clrevents.schema.method_flags import JitAllocFlag as JitAllocFlag
    from clrevents.schema.events.jit import JitInstrumentationDataVerbose_V0 as JitInstrumentationDataVerbose_V0
    from clrevents.schema.events.jit import JitInstrumentationData_V0 as JitInstrumentationData_V0
    from clrevents.schema.events.private_method import JittedMethodRichDebugInfo_V0 as JittedMethodRichDebugInfo_V0
    from clrevents.schema.events.rundown_marks import MethodDCEndILToNativeMap_V0 as MethodDCEndILToNativeMap_V0
    from clrevents.schema.events.rundown_marks import MethodDCEndILToNativeMap_V1 as MethodDCEndILToNativeMap_V1
    from clrevents.schema.events.method_legacy import MethodDCEndV2_V0 as MethodDCEndV2_V0
    from clrevents.schema.events.method_legacy import MethodDCEndVerboseV2_V0 as MethodDCEndVerboseV2_V0
    from clrevents.schema.events.method_rundown import MethodDCEndVerbose_V0 as MethodDCEndVerbose_V0
    from clrevents.schema.events.method_rundown import MethodDCEndVerbose_V1 as MethodDCEndVerbose_V1
    from clrevents.schema.events.method_rundown import MethodDCEndVerbose_V2 as MethodDCEndVerbose_V2
    from clrevents.schema.events.method_rundown import MethodDCEnd_V0 as MethodDCEnd_V0
    from clrevents.schema.events.method_rundown import MethodDCEnd_V1 as MethodDCEnd_V1
    from clrevents.schema.events.method_rundown import MethodDCEnd_V2 as MethodDCEnd_V2
    from clrevents.schema.events.rundown_marks import MethodDCStartILToNativeMap_V0 as MethodDCStartILToNativeMap_V0
    from clrevents.schema.events.rundown_marks import MethodDCStartILToNativeMap_V1 as MethodDCStartILToNativeMap_V1
    from clrevents.schema.events.method_legacy import MethodDCStartV2_V0 as MethodDCStartV2_V0
    from clrevents.schema.events.method_legacy import MethodDCStartVerboseV2_V0 as MethodDCStartVerboseV2_V0
    from clrevents.schema.events.method_rundown import MethodDCStartVerbose_V0 as MethodDCStartVerbose_V0
    from clrevents.schema.events.method_rundown import MethodDCStartVerbose_V1 as MethodDCStartVerbose_V1
    from clrevents.schema.events.method_rundown import MethodDCStartVerbose_V2 as MethodDCStartVerbose_V2
    from clrevents.schema.events.method_rundown import MethodDCStart_V0 as MethodDCStart_V0
    from clrevents.schema.events.method_rundown import MethodDCStart_V1 as MethodDCStart_V1
    from clrevents.schema.events.method_rundown import MethodDCStart_V2 as MethodDCStart_V2
    from clrevents.schema.events.method import MethodDetails_V0 as MethodDetails_V0
    from clrevents.schema.method_flags import MethodExtent as MethodExtent
    from clrevents.schema.method_flags import MethodFlags as MethodFlags
    from clrevents.schema.events.jit import MethodILToNativeMap_V0 as MethodILToNativeMap_V0
    from clrevents.schema.events.jit import MethodILToNativeMap_V1 as MethodILToNativeMap_V1
    from clrevents.schema.events.jit import MethodJitInliningFailedAnsi_V0 as MethodJitInliningFailedAnsi_V0
    from clrevents.schema.events.jit import MethodJitInliningFailed_V0 as MethodJitInliningFailed_V0
    from clrevents.schema.events.jit import MethodJitInliningSucceeded_V0 as MethodJitInliningSucceeded_V0
    from clrevents.schema.events.method import MethodJitMemoryAllocatedForCode_V0 as MethodJitMemoryAllocatedForCode_V0
    from clrevents.schema.events.jit import MethodJitTailCallFailedAnsi_V0 as MethodJitTailCallFailedAnsi_V0
    from clrevents.schema.events.jit import MethodJitTailCallFailed_V0 as MethodJitTailCallFailed_V0
    from clrevents.schema.events.jit import MethodJitTailCallSucceeded_V0 as MethodJitTailCallSucceeded_V0
    from clrevents.schema.events.method import MethodJittingStarted_V0 as MethodJittingStarted_V0
    from clrevents.schema.events.method import MethodJittingStarted_V1 as MethodJittingStarted_V1
    from clrevents.schema.events.method import MethodLoadVerbose_V0 as MethodLoadVerbose_V0
    from clrevents.schema.events.method import MethodLoadVerbose_V1 as MethodLoadVerbose_V1
    from clrevents.schema.events.method import MethodLoadVerbose_V2 as MethodLoadVerbose_V2
    from clrevents.schema.events.method import MethodLoad_V0 as MethodLoad_V0
    from clrevents.schema.events.method import MethodLoad_V1 as MethodLoad_V1
    from clrevents.schema.events.method import MethodLoad_V2 as MethodLoad_V2
    from clrevents.schema.events.method import MethodUnloadVerbose_V0 as MethodUnloadVerbose_V0
    from clrevents.schema.events.method import MethodUnloadVerbose_V1 as MethodUnloadVerbose_V1
    from clrevents.schema.events.method import MethodUnloadVerbose_V2 as MethodUnloadVerbose_V2
    from clrevents.schema.events.method import MethodUnload_V0 as MethodUnload_V0
    from clrevents.schema.events.method import MethodUnload_V1 as MethodUnload_V1
    from clrevents.schema.events.method import MethodUnload_V2 as MethodUnload_V2
    from clrevents.schema.keywords import MonoKeyword as MonoKeyword
    from clrevents.schema.events.private_method import MulticoreJitMethodCodeReturned_V0 as MulticoreJitMethodCodeReturned_V0
    from clrevents.schema.method_flags import OptimizationTier as OptimizationTier
    from clrevents.schema.keywords import PrivateKeyword as PrivateKeyword
    from clrevents.schema.events.r2r import R2RGetEntryPointStart_V0 as R2RGetEntryPointStart_V0
    from clrevents.schema.events.r2r import R2RGetEntryPoint_V0 as R2RGetEntryPoint_V0
    from clrevents.schema.events.r2r import R2RGetEntryPoint_V1 as R2RGetEntryPoint_V1
    from clrevents.schema.events.diagnostic_source import RecursiveActivity1Start_V0 as RecursiveActivity1Start_V0
    from clrevents.schema.events.diagnostic_source import RecursiveActivity1Stop_V0 as RecursiveActivity1Stop_V0
    from clrevents.schema.keywords import RundownKeyword as RundownKeyword
    from clrevents.schema.events.runtime_info import RuntimeInformationDCStart_V0 as RuntimeInformationDCStart_V0
    from clrevents.schema.events.runtime_info import RuntimeInformationStart_V0 as RuntimeInformationStart_V0
    from clrevents.schema.keywords import RuntimeKeyword as RuntimeKeyword
    from clrevents.schema.events.runtime_info import RuntimeSku as RuntimeSku
    from clrevents.schema.events.runtime_info import StartupFlags as StartupFlags
    from clrevents.schema.events.runtime_info import StartupMode as StartupMode
    from clrevents.schema.keywords import StressKeyword as StressKeyword
    from clrevents.schema.events.interop import StubFlags as StubFlags
    from clrevents.schema.events.jit import TailCallType as TailCallType
    from clrevents.schema.events.tiering import TieredCompilationBackgroundJitStart_V0 as TieredCompilationBackgroundJitStart_V0
    from clrevents.schema.events.tiering import TieredCompilationBackgroundJitStop_V0 as TieredCompilationBackgroundJitStop_V0
    from clrevents.schema.method_flags import TieredCompilationFlags as TieredCompilationFlags
    from clrevents.schema.events.tiering import TieredCompilationPause_V0 as TieredCompilationPause_V0
    from clrevents.schema.events.tiering import TieredCompilationResume_V0 as TieredCompilationResume_V0
    from clrevents.schema.events.tiering import TieredCompilationSettingsDCStart_V0 as TieredCompilationSettingsDCStart_V0
    from clrevents.schema.events.tiering import TieredCompilationSettings_V0 as TieredCompilationSettings_V0


def __getattr__(name: str) -> Any:
    try:
        module = EXPORTS[name]
    except KeyError:
        raise AttributeError(f"module 'clrevents.events' has no event class or enum {name!r}") from None
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(EXPORTS)
