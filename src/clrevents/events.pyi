# Made by tools/make.py stubs.
from clrevents.schema.event import struct
from clrevents.schema.events.app_domain_resources import AppDomainMemAllocated_V0 as AppDomainMemAllocated_V0, AppDomainMemSurvived_V0 as AppDomainMemSurvived_V0, ThreadCreated_V0 as ThreadCreated_V0, ThreadDC_V0 as ThreadDC_V0, ThreadDomainEnter_V0 as ThreadDomainEnter_V0, ThreadFlags as ThreadFlags, ThreadTerminated_V0 as ThreadTerminated_V0
from clrevents.schema.events.assembly_loader import AppDomainAssemblyResolveHandlerInvoked_V0 as AppDomainAssemblyResolveHandlerInvoked_V0, AssemblyLoadContextResolvingHandlerInvoked_V0 as AssemblyLoadContextResolvingHandlerInvoked_V0, AssemblyLoadFromResolveHandlerInvoked_V0 as AssemblyLoadFromResolveHandlerInvoked_V0, AssemblyLoadStart_V0 as AssemblyLoadStart_V0, AssemblyLoadStop_V0 as AssemblyLoadStop_V0, KnownPathProbed_V0 as KnownPathProbed_V0, KnownPathSource as KnownPathSource, ResolutionAttemptedResult as ResolutionAttemptedResult, ResolutionAttemptedStage as ResolutionAttemptedStage, ResolutionAttempted_V0 as ResolutionAttempted_V0
from clrevents.schema.events.async_profiler import AppendStateMachineAsyncCallstack_V1 as AppendStateMachineAsyncCallstack_V1, AsyncBuffer_V1 as AsyncBuffer_V1, AsyncEventForm as AsyncEventForm, AsyncEvents_V1 as AsyncEvents_V1, AsyncProfilerMetadata_V1 as AsyncProfilerMetadata_V1, AsyncProfilerSyncClock_V1 as AsyncProfilerSyncClock_V1, CompleteRuntimeAsyncContext_V1 as CompleteRuntimeAsyncContext_V1, CompleteRuntimeAsyncMethod_V1 as CompleteRuntimeAsyncMethod_V1, CompleteStateMachineAsyncContext_V1 as CompleteStateMachineAsyncContext_V1, CompleteStateMachineAsyncMethod_V1 as CompleteStateMachineAsyncMethod_V1, CreateRuntimeAsyncCallstack_V1 as CreateRuntimeAsyncCallstack_V1, CreateRuntimeAsyncContext_V1 as CreateRuntimeAsyncContext_V1, CreateStateMachineAsyncContext_V1 as CreateStateMachineAsyncContext_V1, ResetAsyncContinuationWrapperIndex_V1 as ResetAsyncContinuationWrapperIndex_V1, ResetAsyncThreadContext_V1 as ResetAsyncThreadContext_V1, ResumeRuntimeAsyncCallstack_V1 as ResumeRuntimeAsyncCallstack_V1, ResumeRuntimeAsyncContext_V1 as ResumeRuntimeAsyncContext_V1, ResumeRuntimeAsyncMethod_V1 as ResumeRuntimeAsyncMethod_V1, ResumeStateMachineAsyncCallstack_V1 as ResumeStateMachineAsyncCallstack_V1, ResumeStateMachineAsyncContext_V1 as ResumeStateMachineAsyncContext_V1, ResumeStateMachineAsyncMethod_V1 as ResumeStateMachineAsyncMethod_V1, RuntimeAsyncFrame as RuntimeAsyncFrame, StateMachineAsyncFrame as StateMachineAsyncFrame, SuspendRuntimeAsyncCallstack_V1 as SuspendRuntimeAsyncCallstack_V1, SuspendRuntimeAsyncContext_V1 as SuspendRuntimeAsyncContext_V1, SuspendStateMachineAsyncContext_V1 as SuspendStateMachineAsyncContext_V1, UnwindRuntimeAsyncException_V1 as UnwindRuntimeAsyncException_V1, UnwindStateMachineAsyncException_V1 as UnwindStateMachineAsyncException_V1
from clrevents.schema.events.contention import ContentionFlags as ContentionFlags, ContentionLockCreated_V0 as ContentionLockCreated_V0, ContentionStart_V0 as ContentionStart_V0, ContentionStart_V1 as ContentionStart_V1, ContentionStart_V2 as ContentionStart_V2, ContentionStop_V0 as ContentionStop_V0, ContentionStop_V1 as ContentionStop_V1
from clrevents.schema.events.debugging import CLRStackWalkDCStart_V0 as CLRStackWalkDCStart_V0, CLRStackWalkPrivate_V0 as CLRStackWalkPrivate_V0, CLRStackWalkStress_V0 as CLRStackWalkStress_V0, CLRStackWalk_V0 as CLRStackWalk_V0, StressLogEvent_V0 as StressLogEvent_V0
from clrevents.schema.events.diagnostic_source import DiagnosticArgument as DiagnosticArgument
from clrevents.schema.events.event_pipe import ProcessInfo_V0 as ProcessInfo_V0, ProcessInfo_V1 as ProcessInfo_V1, ThreadSampleType as ThreadSampleType, ThreadSample_V0 as ThreadSample_V0
from clrevents.schema.events.exception import ExceptionThrown_V0 as ExceptionThrown_V0, ExceptionThrown_V1 as ExceptionThrown_V1
from clrevents.schema.events.gc import GCDynamicEvent_V0 as GCDynamicEvent_V0, GCEnd_V0 as GCEnd_V0, GCEnd_V1 as GCEnd_V1, GCHeapStats_V0 as GCHeapStats_V0, GCHeapStats_V1 as GCHeapStats_V1, GCHeapStats_V2 as GCHeapStats_V2, GCReason as GCReason, GCStart_V0 as GCStart_V0, GCStart_V1 as GCStart_V1, GCStart_V2 as GCStart_V2, GCSuspendEEBegin_V0 as GCSuspendEEBegin_V0, GCSuspendEEBegin_V1 as GCSuspendEEBegin_V1, GCSuspendEEReason as GCSuspendEEReason, GCTriggered_V0 as GCTriggered_V0, GCType as GCType
from clrevents.schema.events.gc_allocation import AllocationSampled_V0 as AllocationSampled_V0, DecreaseMemoryPressure_V0 as DecreaseMemoryPressure_V0, GCAllocationTick_V0 as GCAllocationTick_V0, GCAllocationTick_V1 as GCAllocationTick_V1, GCAllocationTick_V2 as GCAllocationTick_V2, GCAllocationTick_V3 as GCAllocationTick_V3, GCAllocationTick_V4 as GCAllocationTick_V4, GCSampledObjectAllocationHigh_V0 as GCSampledObjectAllocationHigh_V0, GCSampledObjectAllocationLow_V0 as GCSampledObjectAllocationLow_V0, IncreaseMemoryPressure_V0 as IncreaseMemoryPressure_V0
from clrevents.schema.events.gc_bulk import GCBulkEdgeValue as GCBulkEdgeValue, GCBulkEdge_V0 as GCBulkEdge_V0, GCBulkMovedObjectRangesValue as GCBulkMovedObjectRangesValue, GCBulkMovedObjectRanges_V0 as GCBulkMovedObjectRanges_V0, GCBulkNodeValue as GCBulkNodeValue, GCBulkNode_V0 as GCBulkNode_V0, GCBulkRCWValue as GCBulkRCWValue, GCBulkRCW_V0 as GCBulkRCW_V0, GCBulkRootCCWValue as GCBulkRootCCWValue, GCBulkRootCCW_V0 as GCBulkRootCCW_V0, GCBulkRootConditionalWeakTableElementEdgeValue as GCBulkRootConditionalWeakTableElementEdgeValue, GCBulkRootConditionalWeakTableElementEdge_V0 as GCBulkRootConditionalWeakTableElementEdge_V0, GCBulkRootEdgeValue as GCBulkRootEdgeValue, GCBulkRootEdge_V0 as GCBulkRootEdge_V0, GCBulkRootStaticVarValue as GCBulkRootStaticVarValue, GCBulkRootStaticVar_V0 as GCBulkRootStaticVar_V0, GCBulkSurvivingObjectRangesValue as GCBulkSurvivingObjectRangesValue, GCBulkSurvivingObjectRanges_V0 as GCBulkSurvivingObjectRanges_V0, GCRootCCWFlags as GCRootCCWFlags, GCRootFlags as GCRootFlags, GCRootStaticVarFlags as GCRootStaticVarFlags, GenAwareBegin_V0 as GenAwareBegin_V0, GenAwareEnd_V0 as GenAwareEnd_V0
from clrevents.schema.events.gc_history import GCBucketKind as GCBucketKind, GCFitBucketInfoValue as GCFitBucketInfoValue, GCFitBucketInfo_V0 as GCFitBucketInfo_V0, GCGlobalHeapHistoryValue as GCGlobalHeapHistoryValue, GCGlobalHeapHistory_V2 as GCGlobalHeapHistory_V2, GCGlobalHeapHistory_V3 as GCGlobalHeapHistory_V3, GCGlobalHeapHistory_V4 as GCGlobalHeapHistory_V4, GCJoin_V2 as GCJoin_V2, GCLOHCompactValue as GCLOHCompactValue, GCLOHCompact_V0 as GCLOHCompact_V0, GCMarkWithType_V0 as GCMarkWithType_V0, GCPerHeapHistoryValue as GCPerHeapHistoryValue, GCPerHeapHistory_V3 as GCPerHeapHistory_V3
from clrevents.schema.events.gc_segments import DestroyGCHandle_V0 as DestroyGCHandle_V0, FinalizeObject_V0 as FinalizeObject_V0, GCCreateSegment_V0 as GCCreateSegment_V0, GCFinalizersBegin_V0 as GCFinalizersBegin_V0, GCFinalizersEnd_V0 as GCFinalizersEnd_V0, GCFreeSegment_V0 as GCFreeSegment_V0, GCGenerationRange_V0 as GCGenerationRange_V0, GCSegmentType as GCSegmentType, PinObjectAtGCTime_V0 as PinObjectAtGCTime_V0, SetGCHandle_V0 as SetGCHandle_V0
from clrevents.schema.events.interop import ILStubCacheHit_V0 as ILStubCacheHit_V0, ILStubGenerated_V0 as ILStubGenerated_V0, StubFlags as StubFlags
from clrevents.schema.events.jit import JitInstrumentationDataVerbose_V0 as JitInstrumentationDataVerbose_V0, JitInstrumentationData_V0 as JitInstrumentationData_V0, MethodJitInliningFailedAnsi_V0 as MethodJitInliningFailedAnsi_V0, MethodJitInliningFailed_V0 as MethodJitInliningFailed_V0, MethodJitInliningSucceeded_V0 as MethodJitInliningSucceeded_V0, MethodJitTailCallFailedAnsi_V0 as MethodJitTailCallFailedAnsi_V0, MethodJitTailCallFailed_V0 as MethodJitTailCallFailed_V0, MethodJitTailCallSucceeded_V0 as MethodJitTailCallSucceeded_V0, TailCallType as TailCallType
from clrevents.schema.events.messages import CodeSymbols_V0 as CodeSymbols_V0, EventSource_V0 as EventSource_V0, ProfilerMessage_V0 as ProfilerMessage_V0
from clrevents.schema.events.method import MethodDetails_V0 as MethodDetails_V0, MethodJitMemoryAllocatedForCode_V0 as MethodJitMemoryAllocatedForCode_V0, MethodJittingStarted_V0 as MethodJittingStarted_V0
from clrevents.schema.events.mono_execution import MonoExceptionClauseType as MonoExceptionClauseType, MonoJitCodeBufferType as MonoJitCodeBufferType, MonoProfilerExceptionClause_V0 as MonoProfilerExceptionClause_V0, MonoProfilerExceptionThrow_V0 as MonoProfilerExceptionThrow_V0, MonoProfilerJitChunkCreated_V0 as MonoProfilerJitChunkCreated_V0, MonoProfilerJitChunkDestroyed_V0 as MonoProfilerJitChunkDestroyed_V0, MonoProfilerJitCodeBuffer_V0 as MonoProfilerJitCodeBuffer_V0, MonoProfilerJitDoneValue as MonoProfilerJitDoneValue, MonoProfilerJitDoneVerbose_V0 as MonoProfilerJitDoneVerbose_V0, MonoProfilerJitDone_V0 as MonoProfilerJitDone_V0, MonoProfilerJitDone_V1 as MonoProfilerJitDone_V1, MonoProfilerThreadName_V0 as MonoProfilerThreadName_V0
from clrevents.schema.events.mono_gc import MonoGCEventType as MonoGCEventType, MonoGCHandleType as MonoGCHandleType, MonoGCRootType as MonoGCRootType, MonoProfilerGCAllocation_V0 as MonoProfilerGCAllocation_V0, MonoProfilerGCEvent_V0 as MonoProfilerGCEvent_V0, MonoProfilerGCHandleCreated_V0 as MonoProfilerGCHandleCreated_V0, MonoProfilerGCHandleDeleted_V0 as MonoProfilerGCHandleDeleted_V0, MonoProfilerGCHeapDumpObjectReferenceValue as MonoProfilerGCHeapDumpObjectReferenceValue, MonoProfilerGCHeapDumpObjectReference_V0 as MonoProfilerGCHeapDumpObjectReference_V0, MonoProfilerGCHeapDumpStart_V0 as MonoProfilerGCHeapDumpStart_V0, MonoProfilerGCHeapDumpStop_V0 as MonoProfilerGCHeapDumpStop_V0, MonoProfilerGCHeapDumpVTableClassReference_V0 as MonoProfilerGCHeapDumpVTableClassReference_V0, MonoProfilerGCMovesValue as MonoProfilerGCMovesValue, MonoProfilerGCMoves_V0 as MonoProfilerGCMoves_V0, MonoProfilerGCResize_V0 as MonoProfilerGCResize_V0, MonoProfilerGCRootRegister_V0 as MonoProfilerGCRootRegister_V0, MonoProfilerGCRootUnregister_V0 as MonoProfilerGCRootUnregister_V0, MonoProfilerGCRootsValue as MonoProfilerGCRootsValue, MonoProfilerGCRoots_V0 as MonoProfilerGCRoots_V0
from clrevents.schema.events.mono_loader import MonoProfilerAppDomainName_V0 as MonoProfilerAppDomainName_V0, MonoProfilerClassLoadedValue as MonoProfilerClassLoadedValue, MonoProfilerClassLoaded_V0 as MonoProfilerClassLoaded_V0, MonoProfilerClassLoaded_V1 as MonoProfilerClassLoaded_V1
from clrevents.schema.events.perf_track import ExecutionCheckpointDCEnd_V0 as ExecutionCheckpointDCEnd_V0, ExecutionCheckpoint_V0 as ExecutionCheckpoint_V0, ModuleRangeIBCType as ModuleRangeIBCType, ModuleRangeLoadPrivate_V0 as ModuleRangeLoadPrivate_V0, ModuleRangeLoad_V0 as ModuleRangeLoad_V0, ModuleRangeSectionType as ModuleRangeSectionType, PrvModuleRangeType as PrvModuleRangeType
from clrevents.schema.events.private_gc import BGC1stSweepEnd_V0 as BGC1stSweepEnd_V0, BGCDrainMark_V0 as BGCDrainMark_V0, BGCOverflow_V0 as BGCOverflow_V0, BGCOverflow_V1 as BGCOverflow_V1, BGCRevisit_V0 as BGCRevisit_V0, GCDecision_V0 as GCDecision_V0, GCFullNotify_V0 as GCFullNotify_V0, GCOptimized_V0 as GCOptimized_V0, GCSettings_V0 as GCSettings_V0, PinPlugAtGCTime_V0 as PinPlugAtGCTime_V0, PrvDestroyGCHandle_V0 as PrvDestroyGCHandle_V0, PrvFinalizeObject_V0 as PrvFinalizeObject_V0, PrvGCGlobalHeapHistory_V0 as PrvGCGlobalHeapHistory_V0, PrvGCJoin_V0 as PrvGCJoin_V0, PrvGCJoin_V1 as PrvGCJoin_V1, PrvGCPerHeapHistory_V1 as PrvGCPerHeapHistory_V1, PrvGCPerHeapHistory_V2 as PrvGCPerHeapHistory_V2, PrvSetGCHandle_V0 as PrvSetGCHandle_V0
from clrevents.schema.events.private_loading import AllocRequest_V0 as AllocRequest_V0, CCWRefCountChangeAnsi_V0 as CCWRefCountChangeAnsi_V0, CCWRefCountChange_V0 as CCWRefCountChange_V0, FailFast_V0 as FailFast_V0, FusionErrorCodeEvent_V0 as FusionErrorCodeEvent_V0, FusionMessageEvent_V0 as FusionMessageEvent_V0, JittedMethodRichDebugInfoPiece as JittedMethodRichDebugInfoPiece, JittedMethodRichDebugInfo_V0 as JittedMethodRichDebugInfo_V0, MulticoreJitMethodCodeReturned_V0 as MulticoreJitMethodCodeReturned_V0, MulticoreJit_V0 as MulticoreJit_V0, NgenBindEvent_V0 as NgenBindEvent_V0, RichDebugInfoHead as RichDebugInfoHead, RichDebugMapping as RichDebugMapping, RichDebugSource as RichDebugSource, RichInlineNode as RichInlineNode
from clrevents.schema.events.private_security import EvidenceGenerated_V0 as EvidenceGenerated_V0, FieldTransparencyComputationEnd_V0 as FieldTransparencyComputationEnd_V0, FieldTransparencyComputationStart_V0 as FieldTransparencyComputationStart_V0, MethodTransparencyComputationEnd_V0 as MethodTransparencyComputationEnd_V0, MethodTransparencyComputationStart_V0 as MethodTransparencyComputationStart_V0, ModuleTransparencyComputationEnd_V0 as ModuleTransparencyComputationEnd_V0, ModuleTransparencyComputationStart_V0 as ModuleTransparencyComputationStart_V0, TokenTransparencyComputationEnd_V0 as TokenTransparencyComputationEnd_V0, TokenTransparencyComputationStart_V0 as TokenTransparencyComputationStart_V0, TypeTransparencyComputationEnd_V0 as TypeTransparencyComputationEnd_V0, TypeTransparencyComputationStart_V0 as TypeTransparencyComputationStart_V0
from clrevents.schema.events.recorder import EventsFiltered_V0 as EventsFiltered_V0, MachineProcessorTime_V0 as MachineProcessorTime_V0, NotCounted as NotCounted, ProcessFacts_V0 as ProcessFacts_V0, ProcessLimits_V0 as ProcessLimits_V0, ProcessProcessorTime_V0 as ProcessProcessorTime_V0, ProcessorCounting_V0 as ProcessorCounting_V0, ProcessorTime_V0 as ProcessorTime_V0, ThreadEnd_V0 as ThreadEnd_V0, ThreadName_V0 as ThreadName_V0
from clrevents.schema.events.rundown_marks import GCSettingsRundown_V0 as GCSettingsRundown_V0
from clrevents.schema.events.runtime_info import RuntimeInformationDCStart_V0 as RuntimeInformationDCStart_V0, RuntimeInformationStart_V0 as RuntimeInformationStart_V0, RuntimeSku as RuntimeSku, StartupFlags as StartupFlags, StartupMode as StartupMode
from clrevents.schema.events.thread_pool import ThreadPoolDequeue_V0 as ThreadPoolDequeue_V0, ThreadPoolEnqueue_V0 as ThreadPoolEnqueue_V0, ThreadPoolIODequeue_V0 as ThreadPoolIODequeue_V0, ThreadPoolIOEnqueue_V0 as ThreadPoolIOEnqueue_V0, ThreadPoolIOPack_V0 as ThreadPoolIOPack_V0, ThreadPoolMinMaxThreads_V0 as ThreadPoolMinMaxThreads_V0, ThreadPoolWorkerThreadAdjustmentAdjustment_V0 as ThreadPoolWorkerThreadAdjustmentAdjustment_V0, ThreadPoolWorkerThreadAdjustmentSample_V0 as ThreadPoolWorkerThreadAdjustmentSample_V0, ThreadPoolWorkerThreadAdjustmentStats_V0 as ThreadPoolWorkerThreadAdjustmentStats_V0, ThreadPoolWorkingThreadCount_V0 as ThreadPoolWorkingThreadCount_V0, ThreadpoolSuspensionResumeThread_V0 as ThreadpoolSuspensionResumeThread_V0, ThreadpoolSuspensionSuspendThread_V0 as ThreadpoolSuspensionSuspendThread_V0
from clrevents.schema.events.threads import WaitHandleWaitSource as WaitHandleWaitSource, WaitHandleWaitStart_V0 as WaitHandleWaitStart_V0, WaitHandleWaitStop_V0 as WaitHandleWaitStop_V0, YieldProcessorMeasurement_V0 as YieldProcessorMeasurement_V0
from clrevents.schema.events.tiering import R2RGetEntryPointStart_V0 as R2RGetEntryPointStart_V0, R2RGetEntryPoint_V0 as R2RGetEntryPoint_V0, R2RGetEntryPoint_V1 as R2RGetEntryPoint_V1, TieredCompilationBackgroundJitStart_V0 as TieredCompilationBackgroundJitStart_V0, TieredCompilationBackgroundJitStop_V0 as TieredCompilationBackgroundJitStop_V0, TieredCompilationPause_V0 as TieredCompilationPause_V0, TieredCompilationResume_V0 as TieredCompilationResume_V0, TieredCompilationSettingsDCStart_V0 as TieredCompilationSettingsDCStart_V0, TieredCompilationSettings_V0 as TieredCompilationSettings_V0
from clrevents.schema.events.types import BulkTypeValue as BulkTypeValue, BulkType_V0 as BulkType_V0, TypeFlags as TypeFlags, TypeLoadStart_V0 as TypeLoadStart_V0, TypeLoadStop_V0 as TypeLoadStop_V0
from clrevents.schema.events.universal import ProcessMappingHead as ProcessMappingHead, ProcessMappingMetadata_V0 as ProcessMappingMetadata_V0, ProcessMappingWithMetadata as ProcessMappingWithMetadata, ProcessMapping_V0 as ProcessMapping_V0, ProcessSymbol_V0 as ProcessSymbol_V0
from clrevents.schema.keywords import MonoKeyword as MonoKeyword, PrivateKeyword as PrivateKeyword, RundownKeyword as RundownKeyword, RuntimeKeyword as RuntimeKeyword, StressKeyword as StressKeyword, TplKeyword as TplKeyword
from clrevents.schema.runtime_flags import AppDomainFlags as AppDomainFlags, AssemblyFlags as AssemblyFlags, ExceptionThrownFlags as ExceptionThrownFlags, GCAllocationKind as GCAllocationKind, GCBulkRootKind as GCBulkRootKind, GCHandleKind as GCHandleKind, GCRootKind as GCRootKind, JitAllocFlag as JitAllocFlag, MethodExtent as MethodExtent, MethodFlags as MethodFlags, ModuleFlags as ModuleFlags, ModuleRangeType as ModuleRangeType, OptimizationTier as OptimizationTier, ThreadAdjustmentReason as ThreadAdjustmentReason, TieredCompilationFlags as TieredCompilationFlags
from clrevents.schema.event import InstanceFields
from clrevents.schema.events.diagnostic_source import DiagnosticFields
from clrevents.schema.events.exception import HandlerFields
from clrevents.schema.events.gc_history import MarkFields
from clrevents.schema.events.loader import AppDomainFields, AssemblyFields, BuildFields, DomainModuleFields, FirstAssemblyFields, IndexFields, ModuleFields, PdbFields
from clrevents.schema.events.method import ReJITFields
from clrevents.schema.events.mono_execution import MonoJitFields, MonoMethodFields, MonoMonitorFields, MonoThreadFields
from clrevents.schema.events.mono_gc import MonoObjectFields
from clrevents.schema.events.mono_loader import MonoAppDomainFields, MonoAssemblyFields, MonoClassFields, MonoContextFields, MonoModuleFields, MonoNamedAssemblyFields, MonoNamedModuleFields, MonoVTableFields
from clrevents.schema.events.perf_track import ModuleRangeFields
from clrevents.schema.events.private_dynamic_types import TwoTypesFields, TypeFields, VarianceFields, VariantFields
from clrevents.schema.events.private_gc import AllocWaitFields, HeapFields
from clrevents.schema.events.private_loading import AssemblyBindingFields
from clrevents.schema.events.security import AuthenticodeFields, StrongNameFields
from clrevents.schema.events.thread_pool import LegacyIOFields, LegacyWorkerFields, WorkerThreadFields
from clrevents.schema.events.threads import NewThreadFields
from clrevents.schema.events.universal import ProcessFields
from clrevents.schema.runtime_flags import ILToNativeMapFields, ILVersionFields, MethodFields, VerboseMethodFields

@struct
class Activity1Start_V0(DiagnosticFields):
    """An activity started; first of two event pairs that may nest."""

@struct
class Activity1Stop_V0(DiagnosticFields):
    """An activity stopped; first of two event pairs that may nest."""

@struct
class Activity2Start_V0(DiagnosticFields):
    """An activity started; second of two event pairs that may nest."""

@struct
class Activity2Stop_V0(DiagnosticFields):
    """An activity stopped; second of two event pairs that may nest."""

@struct
class AllowBindingRedirsEnd_V0(object):
    """End of checking whether binding redirects are allowed."""

@struct
class AllowBindingRedirs_V0(object):
    """Start of checking whether binding redirects are allowed."""

@struct
class AppDomainDCEnd_V0(AppDomainFields):
    """An application domain that existed when the session ended."""

@struct
class AppDomainDCStart_V0(AppDomainFields):
    """An application domain that existed when the session started."""

@struct
class AppDomainLoad_V0(AppDomainFields):
    """An application domain was created."""

@struct
class AppDomainUnload_V0(AppDomainFields):
    """An application domain was unloaded."""

@struct
class ApplyPolicyEnd_V0(object):
    """End of applying binding policy."""

@struct
class ApplyPolicyStart_V0(object):
    """Start of applying binding policy."""

@struct
class AssemblyDCEnd_V0(FirstAssemblyFields):
    """An assembly that was loaded when the session ended."""

@struct
class AssemblyDCStart_V0(FirstAssemblyFields):
    """An assembly that was loaded when the session started."""

@struct
class AssemblyLoad_V0(FirstAssemblyFields):
    """An assembly was loaded."""

@struct
class AssemblyUnload_V0(FirstAssemblyFields):
    """An assembly was unloaded."""

@struct
class AuthenticodeVerificationStart_V0(AuthenticodeFields):
    """Authenticode verification started."""

@struct
class AuthenticodeVerificationStop_V0(AuthenticodeFields):
    """Authenticode verification ended; ErrorCode 0 is success."""

@struct
class BGC1stConEnd_V0(InstanceFields):
    """The first concurrent phase of a background collection ended."""

@struct
class BGC1stNonConEnd_V0(InstanceFields):
    """The first non-concurrent phase of a background collection ended."""

@struct
class BGC2ndConBegin_V0(InstanceFields):
    """The second concurrent phase of a background collection started."""

@struct
class BGC2ndConEnd_V0(InstanceFields):
    """The second concurrent phase of a background collection ended."""

@struct
class BGC2ndNonConBegin_V0(InstanceFields):
    """The second non-concurrent phase of a background collection started."""

@struct
class BGC2ndNonConEnd_V0(InstanceFields):
    """The second non-concurrent phase of a background collection ended."""

@struct
class BGCAllocWaitBegin_V0(AllocWaitFields):
    """An allocation starts waiting for the background collection."""

@struct
class BGCAllocWaitEnd_V0(AllocWaitFields):
    """An allocation stopped waiting for the background collection."""

@struct
class BGCBegin_V0(InstanceFields):
    """A background collection started."""

@struct
class BGCPlanEnd_V0(InstanceFields):
    """The plan phase of a background collection ended."""

@struct
class BGCSweepEnd_V0(InstanceFields):
    """The sweep phase of a background collection ended."""

@struct
class BeginCreateManagedReference_V0(InstanceFields):
    """Creation of a managed reference started."""

@struct
class BindingDownloadPhaseEnd_V0(AssemblyBindingFields):
    """End of the download phase of an assembly bind."""

@struct
class BindingDownloadPhaseStart_V0(AssemblyBindingFields):
    """Start of the download phase of an assembly bind."""

@struct
class BindingLookupAndProbingPhaseEnd_V0(AssemblyBindingFields):
    """End of the file lookup and probing phase of an assembly bind."""

@struct
class BindingLookupAndProbingPhaseStart_V0(AssemblyBindingFields):
    """Start of the file lookup and probing phase of an assembly bind."""

@struct
class BindingNgenPhaseEnd_V0(AssemblyBindingFields):
    """End of the native image phase of an assembly bind."""

@struct
class BindingNgenPhaseStart_V0(AssemblyBindingFields):
    """Start of the native image phase of an assembly bind."""

@struct
class BindingPhaseEnd_V0(AssemblyBindingFields):
    """End of the binding phase of an assembly load."""

@struct
class BindingPhaseStart_V0(AssemblyBindingFields):
    """Start of the binding phase of an assembly load."""

@struct
class BindingPolicyPhaseEnd_V0(AssemblyBindingFields):
    """End of the policy phase of an assembly bind."""

@struct
class BindingPolicyPhaseStart_V0(AssemblyBindingFields):
    """Start of the policy phase of an assembly bind."""

@struct
class CCWVariance_V0(VarianceFields):
    """A managed object exposed to COM was queried for a variant of an interface."""

@struct
class ConvertToCallbackEtw_V0(TwoTypesFields):
    """A conversion to a callback, and the two types."""

@struct
class CreateCCW_V0(TypeFields):
    """A COM callable wrapper for a managed object was created."""

@struct
class CreateRCW_V0(TypeFields):
    """A runtime callable wrapper for a COM object was created."""

@struct
class DCEndCompleteV2_V0(object):
    """End of the method list at the end of a session; from runtimes without the rundown provider."""

@struct
class DCEndComplete_V0(object):
    """End of the rundown at the end of a session."""

@struct
class DCEndInit_V0(object):
    """Start of the rundown at the end of a session."""

@struct
class DCStartCompleteV2_V0(object):
    """End of the method list at the start of a session; from runtimes without the rundown provider."""

@struct
class DCStartComplete_V0(object):
    """End of the rundown at the start of a session."""

@struct
class DCStartInit_V0(object):
    """Start of the rundown at the start of a session."""

@struct
class DebugExceptionProcessingEnd_V0(object):
    """The debugger support finished processing an exception."""

@struct
class DebugExceptionProcessingStart_V0(object):
    """The debugger support starts processing an exception."""

@struct
class DebugIPCEventEnd_V0(object):
    """The runtime finished handling a debugger request."""

@struct
class DebugIPCEventStart_V0(object):
    """The runtime starts handling a debugger request."""

@struct
class DomainModuleDCEnd_V0(DomainModuleFields):
    """A module in an application domain when the session ended."""

@struct
class DomainModuleDCStart_V0(DomainModuleFields):
    """A module in an application domain when the session started."""

@struct
class DomainModuleLoad_V0(DomainModuleFields):
    """A module was loaded into an application domain."""

@struct
class EEConfigSetupEnd_V0(object):
    """End of reading the runtime's configuration."""

@struct
class EEConfigSetup_V0(object):
    """Start of reading the runtime's configuration."""

@struct
class EEConfigSyncEnd_V0(object):
    """End of synchronizing the runtime's configuration."""

@struct
class EEConfigSync_V0(object):
    """Start of synchronizing the runtime's configuration."""

@struct
class EEStartupEnd_V0(object):
    """End of execution engine startup."""

@struct
class EEStartupStart_V0(object):
    """Start of execution engine startup."""

@struct
class EndCreateManagedReference_V0(InstanceFields):
    """Creation of a managed reference ended."""

@struct
class Event_V0(DiagnosticFields):
    """A notification from a library, outside of any activity."""

@struct
class ExceptionCatchStart_V0(HandlerFields):
    """A catch handler starts."""

@struct
class ExceptionCatchStop_V0(object):
    """A catch handler ended."""

@struct
class ExceptionFilterStart_V0(HandlerFields):
    """An exception filter starts."""

@struct
class ExceptionFilterStop_V0(object):
    """An exception filter ended."""

@struct
class ExceptionFinallyStart_V0(HandlerFields):
    """A finally handler starts."""

@struct
class ExceptionFinallyStop_V0(object):
    """A finally handler ended."""

@struct
class ExceptionThrownStop_V0(object):
    """The handling of a thrown exception ended."""

@struct
class ExecExeEnd_V0(object):
    """End of running the program's executable."""

@struct
class ExecExe_V0(object):
    """Start of running the program's executable."""

@struct
class ExistingProcess_V0(ProcessFields):
    """A process that was running when the session started."""

@struct
class ExplicitBindEnd_V0(object):
    """End of an explicit bind."""

@struct
class ExplicitBindStart_V0(object):
    """Start of an explicit bind."""

@struct
class Fusion2EEEnd_V0(object):
    """End of the transition from the assembly binder to the execution engine."""

@struct
class Fusion2EE_V0(object):
    """Start of the transition from the assembly binder to the execution engine."""

@struct
class FusionAppCtxEnd_V0(object):
    """End of setting up the assembly binder's application context."""

@struct
class FusionAppCtx_V0(object):
    """Start of setting up the assembly binder's application context."""

@struct
class FusionBindingEnd_V0(object):
    """End of a bind by the assembly binder."""

@struct
class FusionBinding_V0(object):
    """Start of a bind by the assembly binder."""

@struct
class FusionInitEnd_V0(object):
    """End of setting up the assembly binder."""

@struct
class FusionInit_V0(object):
    """Start of setting up the assembly binder."""

@struct
class GCCreateConcurrentThread_V0(object):
    """The thread for background collections was created."""

@struct
class GCMarkFinalizeQueueRoots_V0(MarkFields):
    """Objects of a heap reachable from the finalizer queue have been marked."""

@struct
class GCMarkHandles_V0(MarkFields):
    """Objects of a heap reachable from GC handles have been marked."""

@struct
class GCMarkOlderGenerationRoots_V0(MarkFields):
    """Objects of a heap reachable from older generations have been marked."""

@struct
class GCMarkStackRoots_V0(MarkFields):
    """Objects of a heap reachable from stacks have been marked."""

@struct
class GCRestartEEBegin_V0(object):
    """The runtime starts resuming managed threads."""

@struct
class GCRestartEEEnd_V0(object):
    """Managed threads have been resumed after a suspension."""

@struct
class GCSuspendEEEnd_V0(object):
    """All managed threads are suspended."""

@struct
class GCTerminateConcurrentThread_V0(object):
    """The thread for background collections terminated."""

@struct
class GetInstallationEnd_V0(object):
    """End of the search for the installation."""

@struct
class GetInstallationStart_V0(object):
    """Start of the search for the installation."""

@struct
class GetTypeFromGUID_V0(TwoTypesFields):
    """A type was looked up by its GUID."""

@struct
class GetTypeFromProgID_V0(TwoTypesFields):
    """A type was looked up by its ProgID."""

@struct
class IInspectableRuntimeClassName_V0(TypeFields):
    """The Windows Runtime class name of an object was requested."""

@struct
class IOThreadCreate_V0(LegacyIOFields):
    """A thread for I/O completions was created."""

@struct
class IOThreadRetire_V0(LegacyIOFields):
    """A thread for I/O completions was retired."""

@struct
class IOThreadTerminate_V0(LegacyIOFields):
    """A thread for I/O completions terminated."""

@struct
class IOThreadUnretire_V0(LegacyIOFields):
    """A retired thread for I/O completions was put back into use."""

@struct
class InitDefaultDomainEnd_V0(object):
    """End of initializing the default application domain."""

@struct
class InitDefaultDomain_V0(object):
    """Start of initializing the default application domain."""

@struct
class InitSecurityEnd_V0(object):
    """End of security setup."""

@struct
class InitSecurity_V0(object):
    """Start of security setup."""

@struct
class LdLibShFolderEnd_V0(object):
    """End of loading the shell folder library."""

@struct
class LdLibShFolder_V0(object):
    """Start of loading the shell folder library."""

@struct
class LdSysBasesEnd_V0(object):
    """End of loading the base system classes."""

@struct
class LdSysBases_V0(object):
    """Start of loading the base system classes."""

@struct
class LoaderAssemblyInitPhaseEnd_V0(AssemblyBindingFields):
    """End of the initialization phase of an assembly load."""

@struct
class LoaderAssemblyInitPhaseStart_V0(AssemblyBindingFields):
    """Start of the initialization phase of an assembly load."""

@struct
class LoaderCatchCallEnd_V0(object):
    """End of a guarded call of the loader."""

@struct
class LoaderCatchCall_V0(object):
    """Start of a guarded call of the loader."""

@struct
class LoaderDeliverEventsPhaseEnd_V0(AssemblyBindingFields):
    """End of the phase of an assembly load that notifies debuggers and profilers."""

@struct
class LoaderDeliverEventsPhaseStart_V0(AssemblyBindingFields):
    """Start of the phase of an assembly load that notifies debuggers and profilers."""

@struct
class LoaderMappingPhaseEnd_V0(AssemblyBindingFields):
    """End of the mapping phase of an assembly load."""

@struct
class LoaderMappingPhaseStart_V0(AssemblyBindingFields):
    """Start of the mapping phase of an assembly load."""

@struct
class LoaderPhaseEnd_V0(AssemblyBindingFields):
    """End of the loader phase of an assembly load."""

@struct
class LoaderPhaseStart_V0(AssemblyBindingFields):
    """Start of the loader phase of an assembly load."""

@struct
class MainEnd_V0(object):
    """End of the program's Main."""

@struct
class Main_V0(object):
    """Start of the program's Main."""

@struct
class MethodDCEndILToNativeMap_V0(ILToNativeMapFields):
    """IL-to-native map of a method; listed at the end of a session."""

@struct
class MethodDCEndV2_V0(MethodFields):
    """A method that existed when the session ended; from runtimes without the rundown provider."""

@struct
class MethodDCEndVerboseV2_V0(VerboseMethodFields):
    """A method that existed when the session ended, with its name; from runtimes without the rundown provider."""

@struct
class MethodDCEndVerbose_V0(VerboseMethodFields):
    """A method that existed when the session ended, with its name."""

@struct
class MethodDCEnd_V0(MethodFields):
    """A method that existed when the session ended."""

@struct
class MethodDCStartILToNativeMap_V0(ILToNativeMapFields):
    """IL-to-native map of a method; listed at the start of a session."""

@struct
class MethodDCStartV2_V0(MethodFields):
    """A method that existed when the session started; from runtimes without the rundown provider."""

@struct
class MethodDCStartVerboseV2_V0(VerboseMethodFields):
    """A method that existed when the session started, with its name; from runtimes without the rundown provider."""

@struct
class MethodDCStartVerbose_V0(VerboseMethodFields):
    """A method that existed when the session started, with its name."""

@struct
class MethodDCStart_V0(MethodFields):
    """A method that existed when the session started."""

@struct
class MethodILToNativeMap_V0(ILToNativeMapFields):
    """IL-to-native map of a method. IL offsets -1, -2, -3: no mapping, prolog, epilog."""

@struct
class MethodLoadVerbose_V0(VerboseMethodFields):
    """A method's code is ready to run; dynamic, generic and helper methods, or all at level 5."""

@struct
class MethodLoad_V0(MethodFields):
    """Code of a method is ready to run: jitted or precompiled."""

@struct
class MethodUnloadVerbose_V0(VerboseMethodFields):
    """A method's code was unloaded; dynamic and generic methods, or all at level 5."""

@struct
class MethodUnload_V0(MethodFields):
    """Code of a method was unloaded with its module or loader."""

@struct
class ModuleDCEndV2_V0(ModuleFields):
    """A module that was loaded when the session ended; from runtimes without the rundown provider."""

@struct
class ModuleDCEnd_V0(ModuleFields):
    """A module that was loaded when the session ended."""

@struct
class ModuleDCStartV2_V0(ModuleFields):
    """A module that was loaded when the session started; from runtimes without the rundown provider."""

@struct
class ModuleDCStart_V0(ModuleFields):
    """A module that was loaded when the session started."""

@struct
class ModuleLoad_V0(ModuleFields):
    """A module was loaded."""

@struct
class ModuleRangeDCEnd_V0(ModuleRangeFields):
    """A range of a precompiled module that was loaded when the session ended, as offset and size in bytes."""

@struct
class ModuleRangeDCStart_V0(ModuleRangeFields):
    """A range of a precompiled module that was loaded when the session started, as offset and size in bytes."""

@struct
class ModuleUnload_V0(ModuleFields):
    """A module was unloaded."""

@struct
class MonoProfilerAppDomainLoaded_V0(MonoAppDomainFields):
    """Mono: an application domain was loaded."""

@struct
class MonoProfilerAppDomainLoading_V0(MonoAppDomainFields):
    """Mono: an application domain starts loading."""

@struct
class MonoProfilerAppDomainUnloaded_V0(MonoAppDomainFields):
    """Mono: an application domain was unloaded."""

@struct
class MonoProfilerAppDomainUnloading_V0(MonoAppDomainFields):
    """Mono: an application domain starts unloading."""

@struct
class MonoProfilerAssemblyLoaded_V0(MonoNamedAssemblyFields):
    """Mono: an assembly was loaded."""

@struct
class MonoProfilerAssemblyLoading_V0(MonoAssemblyFields):
    """Mono: an assembly starts loading."""

@struct
class MonoProfilerAssemblyUnloaded_V0(MonoNamedAssemblyFields):
    """Mono: an assembly was unloaded."""

@struct
class MonoProfilerAssemblyUnloading_V0(MonoAssemblyFields):
    """Mono: an assembly starts unloading."""

@struct
class MonoProfilerClassFailed_V0(MonoClassFields):
    """Mono: a class failed to load."""

@struct
class MonoProfilerClassLoading_V0(MonoClassFields):
    """Mono: a class starts loading."""

@struct
class MonoProfilerContextLoaded_V0(MonoContextFields):
    """Mono: a context was created in an application domain."""

@struct
class MonoProfilerContextUnloaded_V0(MonoContextFields):
    """Mono: a context of an application domain was unloaded."""

@struct
class MonoProfilerGCFinalizedObject_V0(MonoObjectFields):
    """Mono: the finalizer of one object has run."""

@struct
class MonoProfilerGCFinalized_V0(object):
    """Mono: finalizers have run."""

@struct
class MonoProfilerGCFinalizingObject_V0(MonoObjectFields):
    """Mono: the finalizer of one object starts."""

@struct
class MonoProfilerGCFinalizing_V0(object):
    """Mono: finalizers start running."""

@struct
class MonoProfilerJitBegin_V0(MonoJitFields):
    """Mono: the JIT starts compiling a method."""

@struct
class MonoProfilerJitFailed_V0(MonoJitFields):
    """Mono: the JIT failed to compile a method."""

@struct
class MonoProfilerMethodBeginInvoke_V0(MonoMethodFields):
    """Mono: the runtime starts invoking a method."""

@struct
class MonoProfilerMethodEndInvoke_V0(MonoMethodFields):
    """Mono: the runtime finished invoking a method."""

@struct
class MonoProfilerMethodEnter_V0(MonoMethodFields):
    """Mono: a method was entered."""

@struct
class MonoProfilerMethodExceptionLeave_V0(MonoMethodFields):
    """Mono: a method was left by an exception."""

@struct
class MonoProfilerMethodFree_V0(MonoMethodFields):
    """Mono: a method was freed."""

@struct
class MonoProfilerMethodLeave_V0(MonoMethodFields):
    """Mono: a method returned."""

@struct
class MonoProfilerMethodTailCall_V0(MonoMethodFields):
    """Mono: a method was left by a tail call."""

@struct
class MonoProfilerModuleFailed_V0(MonoModuleFields):
    """Mono: a module failed to load."""

@struct
class MonoProfilerModuleLoaded_V0(MonoNamedModuleFields):
    """Mono: a module was loaded."""

@struct
class MonoProfilerModuleLoading_V0(MonoModuleFields):
    """Mono: a module starts loading."""

@struct
class MonoProfilerModuleUnloaded_V0(MonoNamedModuleFields):
    """Mono: a module was unloaded."""

@struct
class MonoProfilerModuleUnloading_V0(MonoModuleFields):
    """Mono: a module starts unloading."""

@struct
class MonoProfilerMonitorAcquired_V0(MonoMonitorFields):
    """Mono: a thread acquired the monitor it was waiting for."""

@struct
class MonoProfilerMonitorContention_V0(MonoMonitorFields):
    """Mono: a thread starts waiting for a monitor held by another thread."""

@struct
class MonoProfilerMonitorFailed_V0(MonoMonitorFields):
    """Mono: a thread gave up waiting for a monitor."""

@struct
class MonoProfilerThreadExited_V0(MonoThreadFields):
    """Mono: a thread has exited."""

@struct
class MonoProfilerThreadStarted_V0(MonoThreadFields):
    """Mono: a thread started."""

@struct
class MonoProfilerThreadStopped_V0(MonoThreadFields):
    """Mono: a thread ended."""

@struct
class MonoProfilerThreadStopping_V0(MonoThreadFields):
    """Mono: a thread is about to end."""

@struct
class MonoProfilerVTableFailed_V0(MonoVTableFields):
    """Mono: creation of a class's method table failed."""

@struct
class MonoProfilerVTableLoaded_V0(MonoVTableFields):
    """Mono: a class's method table was created."""

@struct
class MonoProfilerVTableLoading_V0(MonoVTableFields):
    """Mono: creation of a class's method table starts."""

@struct
class ObjectVariantMarshallingToManaged_V0(VariantFields):
    """A VARIANT from native code was marshalled to an object; Int1 is its type code."""

@struct
class ObjectVariantMarshallingToNative_V0(VariantFields):
    """An object was marshalled to native code as a VARIANT; Int1 is its type code."""

@struct
class OpenHModuleEnd_V0(object):
    """End of opening a module."""

@struct
class OpenHModule_V0(object):
    """Start of opening a module."""

@struct
class ParseXmlEnd_V0(object):
    """End of parsing an XML file."""

@struct
class ParseXml_V0(object):
    """Start of parsing an XML file."""

@struct
class PrestubWorkerEnd_V0(object):
    """End of preparing a method's first call."""

@struct
class PrestubWorker_V0(object):
    """Start of preparing a method's first call."""

@struct
class ProcessCreate_V0(ProcessFields):
    """A process started."""

@struct
class ProcessExit_V0(object):
    """A process ended."""

@struct
class PrvGCMarkCards_V0(HeapFields):
    """Objects of a heap reachable from older generations have been marked. Now a runtime event."""

@struct
class PrvGCMarkFinalizeQueueRoots_V0(HeapFields):
    """Objects reachable from a heap's finalizer queue have been marked. Now a runtime event."""

@struct
class PrvGCMarkHandles_V0(HeapFields):
    """Objects of a heap reachable from GC handles have been marked. Now a runtime event."""

@struct
class PrvGCMarkStackRoots_V0(HeapFields):
    """Objects of a heap reachable from stacks have been marked. Now a runtime event."""

@struct
class RCWIEnumerableCasting_V0(TwoTypesFields):
    """A wrapped COM object was cast to an enumerable interface."""

@struct
class RCWVariance_V0(VarianceFields):
    """A wrapped COM object was cast to a variant of an interface."""

@struct
class RecursiveActivity1Start_V0(DiagnosticFields):
    """An activity that may be recursive started."""

@struct
class RecursiveActivity1Stop_V0(DiagnosticFields):
    """An activity that may be recursive stopped."""

@struct
class SecurityCatchCallEnd_V0(object):
    """End of a guarded call of security."""

@struct
class SecurityCatchCall_V0(object):
    """Start of a guarded call of security."""

@struct
class StrongNameVerificationStart_V0(StrongNameFields):
    """Strong name verification started."""

@struct
class StrongNameVerificationStop_V0(StrongNameFields):
    """Strong name verification ended; ErrorCode 0 is success."""

@struct
class ThreadCreating_V0(NewThreadFields):
    """A thread is about to be created; its ThreadRunning has the same ID."""

@struct
class ThreadPoolWorkerThreadRetirementStart_V0(WorkerThreadFields):
    """A thread pool worker was retired."""

@struct
class ThreadPoolWorkerThreadRetirementStop_V0(WorkerThreadFields):
    """A retired thread pool worker was put back into use."""

@struct
class ThreadPoolWorkerThreadStart_V0(WorkerThreadFields):
    """A thread pool worker started."""

@struct
class ThreadPoolWorkerThreadStop_V0(WorkerThreadFields):
    """A thread pool worker stopped."""

@struct
class ThreadPoolWorkerThreadWait_V0(WorkerThreadFields):
    """A thread pool worker starts waiting for work."""

@struct
class ThreadRunning_V0(NewThreadFields):
    """A created thread starts running; the creator's ThreadCreating has the same ID."""

@struct
class WinRTUnbox_V0(TwoTypesFields):
    """A boxed Windows Runtime value was unboxed."""

@struct
class WorkerThreadCreate_V0(LegacyWorkerFields):
    """A thread pool worker was created; from runtimes before ThreadPoolWorkerThreadStart."""

@struct
class WorkerThreadRetire_V0(LegacyWorkerFields):
    """A thread pool worker was retired; from runtimes before ThreadPoolWorkerThreadRetirementStart."""

@struct
class WorkerThreadTerminate_V0(LegacyWorkerFields):
    """A thread pool worker ended; from runtimes before ThreadPoolWorkerThreadStop."""

@struct
class WorkerThreadUnretire_V0(LegacyWorkerFields):
    """A retired thread pool worker was put back into use; from old runtimes."""

@struct
class AllowBindingRedirsEnd_V1(InstanceFields, AllowBindingRedirsEnd_V0):
    """End of checking whether binding redirects are allowed. Adds ClrInstanceID."""

@struct
class AllowBindingRedirs_V1(InstanceFields, AllowBindingRedirs_V0):
    """Start of checking whether binding redirects are allowed. Adds ClrInstanceID."""

@struct
class AppDomainDCEnd_V1(IndexFields, AppDomainDCEnd_V0):
    """An application domain that existed when the session ended. Adds AppDomainIndex and ClrInstanceID."""

@struct
class AppDomainDCStart_V1(IndexFields, AppDomainDCStart_V0):
    """An application domain that existed when the session started. Adds AppDomainIndex and ClrInstanceID."""

@struct
class AppDomainLoad_V1(IndexFields, AppDomainLoad_V0):
    """An application domain was created. Adds AppDomainIndex and ClrInstanceID."""

@struct
class AppDomainUnload_V1(IndexFields, AppDomainUnload_V0):
    """An application domain was unloaded. Adds AppDomainIndex and ClrInstanceID."""

@struct
class ApplyPolicyEnd_V1(InstanceFields, ApplyPolicyEnd_V0):
    """End of applying binding policy. Adds ClrInstanceID."""

@struct
class ApplyPolicyStart_V1(InstanceFields, ApplyPolicyStart_V0):
    """Start of applying binding policy. Adds ClrInstanceID."""

@struct
class AssemblyDCEnd_V1(AssemblyFields):
    """An assembly that was loaded when the session ended; BindingID identifies the bind."""

@struct
class AssemblyDCStart_V1(AssemblyFields):
    """An assembly that was loaded when the session started; BindingID identifies the bind."""

@struct
class AssemblyLoad_V1(AssemblyFields):
    """An assembly was loaded; BindingID identifies the bind."""

@struct
class AssemblyUnload_V1(AssemblyFields):
    """An assembly was unloaded; BindingID identifies the bind that had loaded it."""

@struct
class AuthenticodeVerificationStart_V1(InstanceFields, AuthenticodeVerificationStart_V0):
    """Authenticode verification started. Adds ClrInstanceID."""

@struct
class AuthenticodeVerificationStop_V1(InstanceFields, AuthenticodeVerificationStop_V0):
    """Authenticode verification ended; ErrorCode 0 is success. Adds ClrInstanceID."""

@struct
class DCEndComplete_V1(InstanceFields, DCEndComplete_V0):
    """End of the rundown at the end of a session. Adds ClrInstanceID."""

@struct
class DCEndInit_V1(InstanceFields, DCEndInit_V0):
    """Start of the rundown at the end of a session. Adds ClrInstanceID."""

@struct
class DCStartComplete_V1(InstanceFields, DCStartComplete_V0):
    """End of the rundown at the start of a session. Adds ClrInstanceID."""

@struct
class DCStartInit_V1(InstanceFields, DCStartInit_V0):
    """Start of the rundown at the start of a session. Adds ClrInstanceID."""

@struct
class DomainModuleDCEnd_V1(InstanceFields, DomainModuleDCEnd_V0):
    """A module in an application domain when the session ended. Adds ClrInstanceID."""

@struct
class DomainModuleDCStart_V1(InstanceFields, DomainModuleDCStart_V0):
    """A module in an application domain when the session started. Adds ClrInstanceID."""

@struct
class DomainModuleLoad_V1(InstanceFields, DomainModuleLoad_V0):
    """A module was loaded into an application domain. Adds ClrInstanceID."""

@struct
class EEConfigSetupEnd_V1(InstanceFields, EEConfigSetupEnd_V0):
    """End of reading the runtime's configuration. Adds ClrInstanceID."""

@struct
class EEConfigSetup_V1(InstanceFields, EEConfigSetup_V0):
    """Start of reading the runtime's configuration. Adds ClrInstanceID."""

@struct
class EEConfigSyncEnd_V1(InstanceFields, EEConfigSyncEnd_V0):
    """End of synchronizing the runtime's configuration. Adds ClrInstanceID."""

@struct
class EEConfigSync_V1(InstanceFields, EEConfigSync_V0):
    """Start of synchronizing the runtime's configuration. Adds ClrInstanceID."""

@struct
class EEStartupEnd_V1(InstanceFields, EEStartupEnd_V0):
    """End of execution engine startup. Adds ClrInstanceID."""

@struct
class EEStartupStart_V1(InstanceFields, EEStartupStart_V0):
    """Start of execution engine startup. Adds ClrInstanceID."""

@struct
class ExecExeEnd_V1(InstanceFields, ExecExeEnd_V0):
    """End of running the program's executable. Adds ClrInstanceID."""

@struct
class ExecExe_V1(InstanceFields, ExecExe_V0):
    """Start of running the program's executable. Adds ClrInstanceID."""

@struct
class ExplicitBindEnd_V1(InstanceFields, ExplicitBindEnd_V0):
    """End of an explicit bind. Adds ClrInstanceID."""

@struct
class ExplicitBindStart_V1(InstanceFields, ExplicitBindStart_V0):
    """Start of an explicit bind. Adds ClrInstanceID."""

@struct
class Fusion2EEEnd_V1(InstanceFields, Fusion2EEEnd_V0):
    """End of the transition from the assembly binder to the execution engine. Adds ClrInstanceID."""

@struct
class Fusion2EE_V1(InstanceFields, Fusion2EE_V0):
    """Start of the transition from the assembly binder to the execution engine. Adds ClrInstanceID."""

@struct
class FusionAppCtxEnd_V1(InstanceFields, FusionAppCtxEnd_V0):
    """End of setting up the assembly binder's application context. Adds ClrInstanceID."""

@struct
class FusionAppCtx_V1(InstanceFields, FusionAppCtx_V0):
    """Start of setting up the assembly binder's application context. Adds ClrInstanceID."""

@struct
class FusionBindingEnd_V1(InstanceFields, FusionBindingEnd_V0):
    """End of a bind by the assembly binder. Adds ClrInstanceID."""

@struct
class FusionBinding_V1(InstanceFields, FusionBinding_V0):
    """Start of a bind by the assembly binder. Adds ClrInstanceID."""

@struct
class FusionInitEnd_V1(InstanceFields, FusionInitEnd_V0):
    """End of setting up the assembly binder. Adds ClrInstanceID."""

@struct
class FusionInit_V1(InstanceFields, FusionInit_V0):
    """Start of setting up the assembly binder. Adds ClrInstanceID."""

@struct
class GCCreateConcurrentThread_V1(InstanceFields, GCCreateConcurrentThread_V0):
    """The thread for background collections was created. Adds ClrInstanceID."""

@struct
class GCCreateSegment_V1(InstanceFields, GCCreateSegment_V0):
    """A heap segment of Size bytes was created at Address. Adds ClrInstanceID."""

@struct
class GCDecision_V1(InstanceFields, GCDecision_V0):
    """Whether a collection compacts or sweeps. Adds ClrInstanceID."""

@struct
class GCFinalizersBegin_V1(InstanceFields, GCFinalizersBegin_V0):
    """The finalizer thread started running finalizers. Adds ClrInstanceID."""

@struct
class GCFinalizersEnd_V1(InstanceFields, GCFinalizersEnd_V0):
    """The finalizer thread finished running Count finalizers. Adds ClrInstanceID."""

@struct
class GCFreeSegment_V1(InstanceFields, GCFreeSegment_V0):
    """The heap segment at Address was freed. Adds ClrInstanceID."""

@struct
class GCFullNotify_V1(InstanceFields, GCFullNotify_V0):
    """The program is notified, at its request, that a full collection is imminent. Adds ClrInstanceID."""

@struct
class GCOptimized_V1(InstanceFields, GCOptimized_V0):
    """A generation's allocation budget was recomputed; in bytes. Adds ClrInstanceID."""

@struct
class GCRestartEEBegin_V1(InstanceFields, GCRestartEEBegin_V0):
    """The runtime starts resuming managed threads. Adds ClrInstanceID."""

@struct
class GCRestartEEEnd_V1(InstanceFields, GCRestartEEEnd_V0):
    """Managed threads have been resumed after a suspension. Adds ClrInstanceID."""

@struct
class GCSettings_V1(InstanceFields, GCSettings_V0):
    """Heap settings; segment sizes in bytes. Adds ClrInstanceID."""

@struct
class GCSuspendEEEnd_V1(InstanceFields, GCSuspendEEEnd_V0):
    """All managed threads are suspended. Adds ClrInstanceID."""

@struct
class GCTerminateConcurrentThread_V1(InstanceFields, GCTerminateConcurrentThread_V0):
    """The thread for background collections terminated. Adds ClrInstanceID."""

@struct
class GetInstallationEnd_V1(InstanceFields, GetInstallationEnd_V0):
    """End of the search for the installation. Adds ClrInstanceID."""

@struct
class GetInstallationStart_V1(InstanceFields, GetInstallationStart_V0):
    """Start of the search for the installation. Adds ClrInstanceID."""

@struct
class IOThreadCreate_V1(InstanceFields, IOThreadCreate_V0):
    """A thread for I/O completions was created. Adds ClrInstanceID."""

@struct
class IOThreadRetire_V1(InstanceFields, IOThreadRetire_V0):
    """A thread for I/O completions was retired. Adds ClrInstanceID."""

@struct
class IOThreadTerminate_V1(InstanceFields, IOThreadTerminate_V0):
    """A thread for I/O completions terminated. Adds ClrInstanceID."""

@struct
class IOThreadUnretire_V1(InstanceFields, IOThreadUnretire_V0):
    """A retired thread for I/O completions was put back into use. Adds ClrInstanceID."""

@struct
class InitDefaultDomainEnd_V1(InstanceFields, InitDefaultDomainEnd_V0):
    """End of initializing the default application domain. Adds ClrInstanceID."""

@struct
class InitDefaultDomain_V1(InstanceFields, InitDefaultDomain_V0):
    """Start of initializing the default application domain. Adds ClrInstanceID."""

@struct
class InitSecurityEnd_V1(InstanceFields, InitSecurityEnd_V0):
    """End of security setup. Adds ClrInstanceID."""

@struct
class InitSecurity_V1(InstanceFields, InitSecurity_V0):
    """Start of security setup. Adds ClrInstanceID."""

@struct
class LdLibShFolderEnd_V1(InstanceFields, LdLibShFolderEnd_V0):
    """End of loading the shell folder library. Adds ClrInstanceID."""

@struct
class LdLibShFolder_V1(InstanceFields, LdLibShFolder_V0):
    """Start of loading the shell folder library. Adds ClrInstanceID."""

@struct
class LdSysBasesEnd_V1(InstanceFields, LdSysBasesEnd_V0):
    """End of loading the base system classes. Adds ClrInstanceID."""

@struct
class LdSysBases_V1(InstanceFields, LdSysBases_V0):
    """Start of loading the base system classes. Adds ClrInstanceID."""

@struct
class LoaderCatchCallEnd_V1(InstanceFields, LoaderCatchCallEnd_V0):
    """End of a guarded call of the loader. Adds ClrInstanceID."""

@struct
class LoaderCatchCall_V1(InstanceFields, LoaderCatchCall_V0):
    """Start of a guarded call of the loader. Adds ClrInstanceID."""

@struct
class MainEnd_V1(InstanceFields, MainEnd_V0):
    """End of the program's Main. Adds ClrInstanceID."""

@struct
class Main_V1(InstanceFields, Main_V0):
    """Start of the program's Main. Adds ClrInstanceID."""

@struct
class MethodDCEndILToNativeMap_V1(ILVersionFields, MethodDCEndILToNativeMap_V0):
    """IL-to-native map of a method; listed at the end of a session. Adds ILVersionID."""

@struct
class MethodDCEndVerbose_V1(InstanceFields, MethodDCEndVerbose_V0):
    """A method that existed when the session ended, with its name. Adds ClrInstanceID."""

@struct
class MethodDCEnd_V1(InstanceFields, MethodDCEnd_V0):
    """A method that existed when the session ended. Adds ClrInstanceID."""

@struct
class MethodDCStartILToNativeMap_V1(ILVersionFields, MethodDCStartILToNativeMap_V0):
    """IL-to-native map of a method; listed at the start of a session. Adds ILVersionID."""

@struct
class MethodDCStartVerbose_V1(InstanceFields, MethodDCStartVerbose_V0):
    """A method that existed when the session started, with its name. Adds ClrInstanceID."""

@struct
class MethodDCStart_V1(InstanceFields, MethodDCStart_V0):
    """A method that existed when the session started. Adds ClrInstanceID."""

@struct
class MethodILToNativeMap_V1(ILVersionFields, MethodILToNativeMap_V0):
    """IL-to-native map of a method. IL offsets -1, -2, -3: no mapping, prolog, epilog. Adds ILVersionID."""

@struct
class MethodJittingStarted_V1(InstanceFields, MethodJittingStarted_V0):
    """The JIT started compiling a method. Adds ClrInstanceID."""

@struct
class MethodLoadVerbose_V1(InstanceFields, MethodLoadVerbose_V0):
    """A method's code is ready to run; dynamic, generic and helper methods, or all at level 5. Adds ClrInstanceID."""

@struct
class MethodLoad_V1(InstanceFields, MethodLoad_V0):
    """Code of a method is ready to run: jitted or precompiled. Adds ClrInstanceID."""

@struct
class MethodUnloadVerbose_V1(InstanceFields, MethodUnloadVerbose_V0):
    """A method's code was unloaded; dynamic and generic methods, or all at level 5. Adds ClrInstanceID."""

@struct
class MethodUnload_V1(InstanceFields, MethodUnload_V0):
    """Code of a method was unloaded with its module or loader. Adds ClrInstanceID."""

@struct
class ModuleDCEnd_V1(InstanceFields, ModuleDCEnd_V0):
    """A module that was loaded when the session ended. Adds ClrInstanceID."""

@struct
class ModuleDCStart_V1(InstanceFields, ModuleDCStart_V0):
    """A module that was loaded when the session started. Adds ClrInstanceID."""

@struct
class ModuleLoad_V1(InstanceFields, ModuleLoad_V0):
    """A module was loaded. Adds ClrInstanceID."""

@struct
class ModuleUnload_V1(InstanceFields, ModuleUnload_V0):
    """A module was unloaded. Adds ClrInstanceID."""

@struct
class OpenHModuleEnd_V1(InstanceFields, OpenHModuleEnd_V0):
    """End of opening a module. Adds ClrInstanceID."""

@struct
class OpenHModule_V1(InstanceFields, OpenHModule_V0):
    """Start of opening a module. Adds ClrInstanceID."""

@struct
class ParseXmlEnd_V1(InstanceFields, ParseXmlEnd_V0):
    """End of parsing an XML file. Adds ClrInstanceID."""

@struct
class ParseXml_V1(InstanceFields, ParseXml_V0):
    """Start of parsing an XML file. Adds ClrInstanceID."""

@struct
class PrestubWorkerEnd_V1(InstanceFields, PrestubWorkerEnd_V0):
    """End of preparing a method's first call. Adds ClrInstanceID."""

@struct
class PrestubWorker_V1(InstanceFields, PrestubWorker_V0):
    """Start of preparing a method's first call. Adds ClrInstanceID."""

@struct
class PrvGCGlobalHeapHistory_V1(InstanceFields, PrvGCGlobalHeapHistory_V0):
    """What a collection decided for all heaps; sizes in bytes. Now a runtime event. Adds ClrInstanceID."""

@struct
class PrvGCMarkCards_V1(InstanceFields, PrvGCMarkCards_V0):
    """Objects of a heap reachable from older generations have been marked. Now a runtime event. Adds ClrInstanceID."""

@struct
class PrvGCMarkFinalizeQueueRoots_V1(InstanceFields, PrvGCMarkFinalizeQueueRoots_V0):
    """Objects reachable from a heap's finalizer queue have been marked. Now a runtime event. Adds ClrInstanceID."""

@struct
class PrvGCMarkHandles_V1(InstanceFields, PrvGCMarkHandles_V0):
    """Objects of a heap reachable from GC handles have been marked. Now a runtime event. Adds ClrInstanceID."""

@struct
class PrvGCMarkStackRoots_V1(InstanceFields, PrvGCMarkStackRoots_V0):
    """Objects of a heap reachable from stacks have been marked. Now a runtime event. Adds ClrInstanceID."""

@struct
class SecurityCatchCallEnd_V1(InstanceFields, SecurityCatchCallEnd_V0):
    """End of a guarded call of security. Adds ClrInstanceID."""

@struct
class SecurityCatchCall_V1(InstanceFields, SecurityCatchCall_V0):
    """Start of a guarded call of security. Adds ClrInstanceID."""

@struct
class StressLogEvent_V1(InstanceFields, StressLogEvent_V0):
    """A line of the runtime's stress log. Adds ClrInstanceID."""

@struct
class StrongNameVerificationStart_V1(InstanceFields, StrongNameVerificationStart_V0):
    """Strong name verification started. Adds ClrInstanceID."""

@struct
class StrongNameVerificationStop_V1(InstanceFields, StrongNameVerificationStop_V0):
    """Strong name verification ended; ErrorCode 0 is success. Adds ClrInstanceID."""

@struct
class MethodDCEndVerbose_V2(ReJITFields, MethodDCEndVerbose_V1):
    """A method that existed when the session ended, with its name. Adds ReJITID."""

@struct
class MethodDCEnd_V2(ReJITFields, MethodDCEnd_V1):
    """A method that existed when the session ended. Adds ReJITID."""

@struct
class MethodDCStartVerbose_V2(ReJITFields, MethodDCStartVerbose_V1):
    """A method that existed when the session started, with its name. Adds ReJITID."""

@struct
class MethodDCStart_V2(ReJITFields, MethodDCStart_V1):
    """A method that existed when the session started. Adds ReJITID."""

@struct
class MethodLoadVerbose_V2(ReJITFields, MethodLoadVerbose_V1):
    """A method's code is ready to run; dynamic, generic and helper methods, or all at level 5. Adds ReJITID."""

@struct
class MethodLoad_V2(ReJITFields, MethodLoad_V1):
    """Code of a method is ready to run: jitted or precompiled. Adds ReJITID."""

@struct
class MethodUnloadVerbose_V2(ReJITFields, MethodUnloadVerbose_V1):
    """A method's code was unloaded; dynamic and generic methods, or all at level 5. Adds ReJITID."""

@struct
class MethodUnload_V2(ReJITFields, MethodUnload_V1):
    """Code of a method was unloaded with its module or loader. Adds ReJITID."""

@struct
class ModuleDCEnd_V2(PdbFields, ModuleDCEnd_V1):
    """A module that was loaded when the session ended. Adds the identity of its PDBs."""

@struct
class ModuleDCStart_V2(PdbFields, ModuleDCStart_V1):
    """A module that was loaded when the session started. Adds the identity of its PDBs."""

@struct
class ModuleLoad_V2(PdbFields, ModuleLoad_V1):
    """A module was loaded. Adds the identity of its PDBs."""

@struct
class ModuleUnload_V2(PdbFields, ModuleUnload_V1):
    """A module was unloaded. Adds the identity of its PDBs."""

@struct
class ModuleDCEnd_V3(BuildFields, ModuleDCEnd_V2):
    """A module that was loaded when the session ended. Adds NativeBuildID."""

@struct
class ModuleLoad_V3(BuildFields, ModuleLoad_V2):
    """A module was loaded. Adds NativeBuildID."""
