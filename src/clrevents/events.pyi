# Made by tools/make.py stubs.
from clrevents.schema.event import InstanceFields, struct
from clrevents.schema.events.app_domain_resources import AppDomainMemAllocated_V0 as AppDomainMemAllocated_V0, AppDomainMemSurvived_V0 as AppDomainMemSurvived_V0, ThreadCreated_V0 as ThreadCreated_V0, ThreadDC_V0 as ThreadDC_V0, ThreadDomainEnter_V0 as ThreadDomainEnter_V0, ThreadFlags as ThreadFlags, ThreadTerminated_V0 as ThreadTerminated_V0
from clrevents.schema.events.assembly_loader import AppDomainAssemblyResolveHandlerInvoked_V0 as AppDomainAssemblyResolveHandlerInvoked_V0, AssemblyLoadContextResolvingHandlerInvoked_V0 as AssemblyLoadContextResolvingHandlerInvoked_V0, AssemblyLoadFromResolveHandlerInvoked_V0 as AssemblyLoadFromResolveHandlerInvoked_V0, AssemblyLoadStart_V0 as AssemblyLoadStart_V0, AssemblyLoadStop_V0 as AssemblyLoadStop_V0, KnownPathProbed_V0 as KnownPathProbed_V0, KnownPathSource as KnownPathSource, ResolutionAttemptedResult as ResolutionAttemptedResult, ResolutionAttemptedStage as ResolutionAttemptedStage, ResolutionAttempted_V0 as ResolutionAttempted_V0
from clrevents.schema.events.async_profiler import AppendStateMachineAsyncCallstack_V1 as AppendStateMachineAsyncCallstack_V1, AsyncBuffer_V1 as AsyncBuffer_V1, AsyncEventForm as AsyncEventForm, AsyncEvents_V1 as AsyncEvents_V1, AsyncProfilerMetadata_V1 as AsyncProfilerMetadata_V1, AsyncProfilerSyncClock_V1 as AsyncProfilerSyncClock_V1, CompleteRuntimeAsyncContext_V1 as CompleteRuntimeAsyncContext_V1, CompleteRuntimeAsyncMethod_V1 as CompleteRuntimeAsyncMethod_V1, CompleteStateMachineAsyncContext_V1 as CompleteStateMachineAsyncContext_V1, CompleteStateMachineAsyncMethod_V1 as CompleteStateMachineAsyncMethod_V1, CreateRuntimeAsyncCallstack_V1 as CreateRuntimeAsyncCallstack_V1, CreateRuntimeAsyncContext_V1 as CreateRuntimeAsyncContext_V1, CreateStateMachineAsyncContext_V1 as CreateStateMachineAsyncContext_V1, ResetAsyncContinuationWrapperIndex_V1 as ResetAsyncContinuationWrapperIndex_V1, ResetAsyncThreadContext_V1 as ResetAsyncThreadContext_V1, ResumeRuntimeAsyncCallstack_V1 as ResumeRuntimeAsyncCallstack_V1, ResumeRuntimeAsyncContext_V1 as ResumeRuntimeAsyncContext_V1, ResumeRuntimeAsyncMethod_V1 as ResumeRuntimeAsyncMethod_V1, ResumeStateMachineAsyncCallstack_V1 as ResumeStateMachineAsyncCallstack_V1, ResumeStateMachineAsyncContext_V1 as ResumeStateMachineAsyncContext_V1, ResumeStateMachineAsyncMethod_V1 as ResumeStateMachineAsyncMethod_V1, RuntimeAsyncFrame as RuntimeAsyncFrame, StateMachineAsyncFrame as StateMachineAsyncFrame, SuspendRuntimeAsyncCallstack_V1 as SuspendRuntimeAsyncCallstack_V1, SuspendRuntimeAsyncContext_V1 as SuspendRuntimeAsyncContext_V1, SuspendStateMachineAsyncContext_V1 as SuspendStateMachineAsyncContext_V1, UnwindRuntimeAsyncException_V1 as UnwindRuntimeAsyncException_V1, UnwindStateMachineAsyncException_V1 as UnwindStateMachineAsyncException_V1
from clrevents.schema.events.contention import ContentionFlags as ContentionFlags, ContentionLockCreated_V0 as ContentionLockCreated_V0, ContentionStart_V0 as ContentionStart_V0, ContentionStart_V1 as ContentionStart_V1, ContentionStart_V2 as ContentionStart_V2, ContentionStop_V0 as ContentionStop_V0, ContentionStop_V1 as ContentionStop_V1
from clrevents.schema.events.debugging import CLRStackWalkDCStart_V0 as CLRStackWalkDCStart_V0, CLRStackWalkPrivate_V0 as CLRStackWalkPrivate_V0, CLRStackWalkStress_V0 as CLRStackWalkStress_V0, CLRStackWalk_V0 as CLRStackWalk_V0, DebugExceptionProcessingEnd_V0 as DebugExceptionProcessingEnd_V0, DebugExceptionProcessingStart_V0 as DebugExceptionProcessingStart_V0, DebugIPCEventEnd_V0 as DebugIPCEventEnd_V0, DebugIPCEventStart_V0 as DebugIPCEventStart_V0, StressLogEvent_V0 as StressLogEvent_V0
from clrevents.schema.events.diagnostic_source import Activity1Start_V0 as Activity1Start_V0, Activity1Stop_V0 as Activity1Stop_V0, Activity2Start_V0 as Activity2Start_V0, Activity2Stop_V0 as Activity2Stop_V0, DiagnosticArgument as DiagnosticArgument, Event_V0 as Event_V0, RecursiveActivity1Start_V0 as RecursiveActivity1Start_V0, RecursiveActivity1Stop_V0 as RecursiveActivity1Stop_V0
from clrevents.schema.events.event_pipe import ProcessInfo_V0 as ProcessInfo_V0, ProcessInfo_V1 as ProcessInfo_V1, ThreadSampleType as ThreadSampleType, ThreadSample_V0 as ThreadSample_V0
from clrevents.schema.events.exception import ExceptionCatchStart_V0 as ExceptionCatchStart_V0, ExceptionCatchStop_V0 as ExceptionCatchStop_V0, ExceptionFilterStart_V0 as ExceptionFilterStart_V0, ExceptionFilterStop_V0 as ExceptionFilterStop_V0, ExceptionFinallyStart_V0 as ExceptionFinallyStart_V0, ExceptionFinallyStop_V0 as ExceptionFinallyStop_V0, ExceptionThrownStop_V0 as ExceptionThrownStop_V0, ExceptionThrown_V0 as ExceptionThrown_V0, ExceptionThrown_V1 as ExceptionThrown_V1
from clrevents.schema.events.gc import GCCreateConcurrentThread_V0 as GCCreateConcurrentThread_V0, GCDynamicEvent_V0 as GCDynamicEvent_V0, GCEnd_V0 as GCEnd_V0, GCEnd_V1 as GCEnd_V1, GCHeapStats_V0 as GCHeapStats_V0, GCHeapStats_V1 as GCHeapStats_V1, GCHeapStats_V2 as GCHeapStats_V2, GCReason as GCReason, GCRestartEEBegin_V0 as GCRestartEEBegin_V0, GCRestartEEEnd_V0 as GCRestartEEEnd_V0, GCStart_V0 as GCStart_V0, GCStart_V1 as GCStart_V1, GCStart_V2 as GCStart_V2, GCSuspendEEBegin_V0 as GCSuspendEEBegin_V0, GCSuspendEEBegin_V1 as GCSuspendEEBegin_V1, GCSuspendEEEnd_V0 as GCSuspendEEEnd_V0, GCSuspendEEReason as GCSuspendEEReason, GCTerminateConcurrentThread_V0 as GCTerminateConcurrentThread_V0, GCTriggered_V0 as GCTriggered_V0, GCType as GCType
from clrevents.schema.events.gc_allocation import AllocationSampled_V0 as AllocationSampled_V0, DecreaseMemoryPressure_V0 as DecreaseMemoryPressure_V0, GCAllocationTick_V0 as GCAllocationTick_V0, GCAllocationTick_V1 as GCAllocationTick_V1, GCAllocationTick_V2 as GCAllocationTick_V2, GCAllocationTick_V3 as GCAllocationTick_V3, GCAllocationTick_V4 as GCAllocationTick_V4, GCSampledObjectAllocationHigh_V0 as GCSampledObjectAllocationHigh_V0, GCSampledObjectAllocationLow_V0 as GCSampledObjectAllocationLow_V0, IncreaseMemoryPressure_V0 as IncreaseMemoryPressure_V0
from clrevents.schema.events.gc_bulk import GCBulkEdgeValue as GCBulkEdgeValue, GCBulkEdge_V0 as GCBulkEdge_V0, GCBulkMovedObjectRangesValue as GCBulkMovedObjectRangesValue, GCBulkMovedObjectRanges_V0 as GCBulkMovedObjectRanges_V0, GCBulkNodeValue as GCBulkNodeValue, GCBulkNode_V0 as GCBulkNode_V0, GCBulkRCWValue as GCBulkRCWValue, GCBulkRCW_V0 as GCBulkRCW_V0, GCBulkRootCCWValue as GCBulkRootCCWValue, GCBulkRootCCW_V0 as GCBulkRootCCW_V0, GCBulkRootConditionalWeakTableElementEdgeValue as GCBulkRootConditionalWeakTableElementEdgeValue, GCBulkRootConditionalWeakTableElementEdge_V0 as GCBulkRootConditionalWeakTableElementEdge_V0, GCBulkRootEdgeValue as GCBulkRootEdgeValue, GCBulkRootEdge_V0 as GCBulkRootEdge_V0, GCBulkRootStaticVarValue as GCBulkRootStaticVarValue, GCBulkRootStaticVar_V0 as GCBulkRootStaticVar_V0, GCBulkSurvivingObjectRangesValue as GCBulkSurvivingObjectRangesValue, GCBulkSurvivingObjectRanges_V0 as GCBulkSurvivingObjectRanges_V0, GCRootCCWFlags as GCRootCCWFlags, GCRootFlags as GCRootFlags, GCRootStaticVarFlags as GCRootStaticVarFlags, GenAwareBegin_V0 as GenAwareBegin_V0, GenAwareEnd_V0 as GenAwareEnd_V0
from clrevents.schema.events.gc_history import GCBucketKind as GCBucketKind, GCFitBucketInfoValue as GCFitBucketInfoValue, GCFitBucketInfo_V0 as GCFitBucketInfo_V0, GCGlobalHeapHistoryValue as GCGlobalHeapHistoryValue, GCGlobalHeapHistory_V2 as GCGlobalHeapHistory_V2, GCGlobalHeapHistory_V3 as GCGlobalHeapHistory_V3, GCGlobalHeapHistory_V4 as GCGlobalHeapHistory_V4, GCJoin_V2 as GCJoin_V2, GCLOHCompactValue as GCLOHCompactValue, GCLOHCompact_V0 as GCLOHCompact_V0, GCMarkFinalizeQueueRoots_V0 as GCMarkFinalizeQueueRoots_V0, GCMarkHandles_V0 as GCMarkHandles_V0, GCMarkOlderGenerationRoots_V0 as GCMarkOlderGenerationRoots_V0, GCMarkStackRoots_V0 as GCMarkStackRoots_V0, GCMarkWithType_V0 as GCMarkWithType_V0, GCPerHeapHistoryValue as GCPerHeapHistoryValue, GCPerHeapHistory_V3 as GCPerHeapHistory_V3
from clrevents.schema.events.gc_segments import DestroyGCHandle_V0 as DestroyGCHandle_V0, FinalizeObject_V0 as FinalizeObject_V0, GCCreateSegment_V0 as GCCreateSegment_V0, GCFinalizersBegin_V0 as GCFinalizersBegin_V0, GCFinalizersEnd_V0 as GCFinalizersEnd_V0, GCFreeSegment_V0 as GCFreeSegment_V0, GCGenerationRange_V0 as GCGenerationRange_V0, GCSegmentType as GCSegmentType, PinObjectAtGCTime_V0 as PinObjectAtGCTime_V0, SetGCHandle_V0 as SetGCHandle_V0
from clrevents.schema.events.interop import ILStubCacheHit_V0 as ILStubCacheHit_V0, ILStubGenerated_V0 as ILStubGenerated_V0, StubFlags as StubFlags
from clrevents.schema.events.jit import JitInstrumentationDataVerbose_V0 as JitInstrumentationDataVerbose_V0, JitInstrumentationData_V0 as JitInstrumentationData_V0, MethodILToNativeMap_V0 as MethodILToNativeMap_V0, MethodILToNativeMap_V1 as MethodILToNativeMap_V1, MethodJitInliningFailedAnsi_V0 as MethodJitInliningFailedAnsi_V0, MethodJitInliningFailed_V0 as MethodJitInliningFailed_V0, MethodJitInliningSucceeded_V0 as MethodJitInliningSucceeded_V0, MethodJitTailCallFailedAnsi_V0 as MethodJitTailCallFailedAnsi_V0, MethodJitTailCallFailed_V0 as MethodJitTailCallFailed_V0, MethodJitTailCallSucceeded_V0 as MethodJitTailCallSucceeded_V0, TailCallType as TailCallType
from clrevents.schema.events.loader import AppDomainDCEnd_V0 as AppDomainDCEnd_V0, AppDomainDCStart_V0 as AppDomainDCStart_V0, AppDomainLoad_V0 as AppDomainLoad_V0, AppDomainUnload_V0 as AppDomainUnload_V0, AssemblyDCEnd_V0 as AssemblyDCEnd_V0, AssemblyDCEnd_V1 as AssemblyDCEnd_V1, AssemblyDCStart_V0 as AssemblyDCStart_V0, AssemblyDCStart_V1 as AssemblyDCStart_V1, AssemblyLoad_V0 as AssemblyLoad_V0, AssemblyLoad_V1 as AssemblyLoad_V1, AssemblyUnload_V0 as AssemblyUnload_V0, AssemblyUnload_V1 as AssemblyUnload_V1, DomainModuleDCEnd_V0 as DomainModuleDCEnd_V0, DomainModuleDCStart_V0 as DomainModuleDCStart_V0, DomainModuleLoad_V0 as DomainModuleLoad_V0, ModuleDCEndV2_V0 as ModuleDCEndV2_V0, ModuleDCEnd_V0 as ModuleDCEnd_V0, ModuleDCStartV2_V0 as ModuleDCStartV2_V0, ModuleDCStart_V0 as ModuleDCStart_V0, ModuleLoad_V0 as ModuleLoad_V0, ModuleUnload_V0 as ModuleUnload_V0
from clrevents.schema.events.messages import CodeSymbols_V0 as CodeSymbols_V0, EventSource_V0 as EventSource_V0, ProfilerMessage_V0 as ProfilerMessage_V0
from clrevents.schema.events.method import DCEndCompleteV2_V0 as DCEndCompleteV2_V0, DCStartCompleteV2_V0 as DCStartCompleteV2_V0, MethodDCEndV2_V0 as MethodDCEndV2_V0, MethodDCEndVerboseV2_V0 as MethodDCEndVerboseV2_V0, MethodDCEndVerbose_V0 as MethodDCEndVerbose_V0, MethodDCEnd_V0 as MethodDCEnd_V0, MethodDCStartV2_V0 as MethodDCStartV2_V0, MethodDCStartVerboseV2_V0 as MethodDCStartVerboseV2_V0, MethodDCStartVerbose_V0 as MethodDCStartVerbose_V0, MethodDCStart_V0 as MethodDCStart_V0, MethodDetails_V0 as MethodDetails_V0, MethodJitMemoryAllocatedForCode_V0 as MethodJitMemoryAllocatedForCode_V0, MethodJittingStarted_V0 as MethodJittingStarted_V0, MethodLoadVerbose_V0 as MethodLoadVerbose_V0, MethodLoad_V0 as MethodLoad_V0, MethodUnloadVerbose_V0 as MethodUnloadVerbose_V0, MethodUnload_V0 as MethodUnload_V0
from clrevents.schema.events.mono_execution import MonoExceptionClauseType as MonoExceptionClauseType, MonoJitCodeBufferType as MonoJitCodeBufferType, MonoProfilerExceptionClause_V0 as MonoProfilerExceptionClause_V0, MonoProfilerExceptionThrow_V0 as MonoProfilerExceptionThrow_V0, MonoProfilerJitBegin_V0 as MonoProfilerJitBegin_V0, MonoProfilerJitChunkCreated_V0 as MonoProfilerJitChunkCreated_V0, MonoProfilerJitChunkDestroyed_V0 as MonoProfilerJitChunkDestroyed_V0, MonoProfilerJitCodeBuffer_V0 as MonoProfilerJitCodeBuffer_V0, MonoProfilerJitDoneValue as MonoProfilerJitDoneValue, MonoProfilerJitDoneVerbose_V0 as MonoProfilerJitDoneVerbose_V0, MonoProfilerJitDone_V0 as MonoProfilerJitDone_V0, MonoProfilerJitDone_V1 as MonoProfilerJitDone_V1, MonoProfilerJitFailed_V0 as MonoProfilerJitFailed_V0, MonoProfilerMethodBeginInvoke_V0 as MonoProfilerMethodBeginInvoke_V0, MonoProfilerMethodEndInvoke_V0 as MonoProfilerMethodEndInvoke_V0, MonoProfilerMethodEnter_V0 as MonoProfilerMethodEnter_V0, MonoProfilerMethodExceptionLeave_V0 as MonoProfilerMethodExceptionLeave_V0, MonoProfilerMethodFree_V0 as MonoProfilerMethodFree_V0, MonoProfilerMethodLeave_V0 as MonoProfilerMethodLeave_V0, MonoProfilerMethodTailCall_V0 as MonoProfilerMethodTailCall_V0, MonoProfilerMonitorAcquired_V0 as MonoProfilerMonitorAcquired_V0, MonoProfilerMonitorContention_V0 as MonoProfilerMonitorContention_V0, MonoProfilerMonitorFailed_V0 as MonoProfilerMonitorFailed_V0, MonoProfilerThreadExited_V0 as MonoProfilerThreadExited_V0, MonoProfilerThreadName_V0 as MonoProfilerThreadName_V0, MonoProfilerThreadStarted_V0 as MonoProfilerThreadStarted_V0, MonoProfilerThreadStopped_V0 as MonoProfilerThreadStopped_V0, MonoProfilerThreadStopping_V0 as MonoProfilerThreadStopping_V0
from clrevents.schema.events.mono_gc import MonoGCEventType as MonoGCEventType, MonoGCHandleType as MonoGCHandleType, MonoGCRootType as MonoGCRootType, MonoProfilerGCAllocation_V0 as MonoProfilerGCAllocation_V0, MonoProfilerGCEvent_V0 as MonoProfilerGCEvent_V0, MonoProfilerGCFinalizedObject_V0 as MonoProfilerGCFinalizedObject_V0, MonoProfilerGCFinalized_V0 as MonoProfilerGCFinalized_V0, MonoProfilerGCFinalizingObject_V0 as MonoProfilerGCFinalizingObject_V0, MonoProfilerGCFinalizing_V0 as MonoProfilerGCFinalizing_V0, MonoProfilerGCHandleCreated_V0 as MonoProfilerGCHandleCreated_V0, MonoProfilerGCHandleDeleted_V0 as MonoProfilerGCHandleDeleted_V0, MonoProfilerGCHeapDumpObjectReferenceValue as MonoProfilerGCHeapDumpObjectReferenceValue, MonoProfilerGCHeapDumpObjectReference_V0 as MonoProfilerGCHeapDumpObjectReference_V0, MonoProfilerGCHeapDumpStart_V0 as MonoProfilerGCHeapDumpStart_V0, MonoProfilerGCHeapDumpStop_V0 as MonoProfilerGCHeapDumpStop_V0, MonoProfilerGCHeapDumpVTableClassReference_V0 as MonoProfilerGCHeapDumpVTableClassReference_V0, MonoProfilerGCMovesValue as MonoProfilerGCMovesValue, MonoProfilerGCMoves_V0 as MonoProfilerGCMoves_V0, MonoProfilerGCResize_V0 as MonoProfilerGCResize_V0, MonoProfilerGCRootRegister_V0 as MonoProfilerGCRootRegister_V0, MonoProfilerGCRootUnregister_V0 as MonoProfilerGCRootUnregister_V0, MonoProfilerGCRootsValue as MonoProfilerGCRootsValue, MonoProfilerGCRoots_V0 as MonoProfilerGCRoots_V0
from clrevents.schema.events.mono_loader import MonoProfilerAppDomainLoaded_V0 as MonoProfilerAppDomainLoaded_V0, MonoProfilerAppDomainLoading_V0 as MonoProfilerAppDomainLoading_V0, MonoProfilerAppDomainName_V0 as MonoProfilerAppDomainName_V0, MonoProfilerAppDomainUnloaded_V0 as MonoProfilerAppDomainUnloaded_V0, MonoProfilerAppDomainUnloading_V0 as MonoProfilerAppDomainUnloading_V0, MonoProfilerAssemblyLoaded_V0 as MonoProfilerAssemblyLoaded_V0, MonoProfilerAssemblyLoading_V0 as MonoProfilerAssemblyLoading_V0, MonoProfilerAssemblyUnloaded_V0 as MonoProfilerAssemblyUnloaded_V0, MonoProfilerAssemblyUnloading_V0 as MonoProfilerAssemblyUnloading_V0, MonoProfilerClassFailed_V0 as MonoProfilerClassFailed_V0, MonoProfilerClassLoadedValue as MonoProfilerClassLoadedValue, MonoProfilerClassLoaded_V0 as MonoProfilerClassLoaded_V0, MonoProfilerClassLoaded_V1 as MonoProfilerClassLoaded_V1, MonoProfilerClassLoading_V0 as MonoProfilerClassLoading_V0, MonoProfilerContextLoaded_V0 as MonoProfilerContextLoaded_V0, MonoProfilerContextUnloaded_V0 as MonoProfilerContextUnloaded_V0, MonoProfilerModuleFailed_V0 as MonoProfilerModuleFailed_V0, MonoProfilerModuleLoaded_V0 as MonoProfilerModuleLoaded_V0, MonoProfilerModuleLoading_V0 as MonoProfilerModuleLoading_V0, MonoProfilerModuleUnloaded_V0 as MonoProfilerModuleUnloaded_V0, MonoProfilerModuleUnloading_V0 as MonoProfilerModuleUnloading_V0, MonoProfilerVTableFailed_V0 as MonoProfilerVTableFailed_V0, MonoProfilerVTableLoaded_V0 as MonoProfilerVTableLoaded_V0, MonoProfilerVTableLoading_V0 as MonoProfilerVTableLoading_V0
from clrevents.schema.events.perf_track import ExecutionCheckpointDCEnd_V0 as ExecutionCheckpointDCEnd_V0, ExecutionCheckpoint_V0 as ExecutionCheckpoint_V0, ModuleRangeDCEnd_V0 as ModuleRangeDCEnd_V0, ModuleRangeDCStart_V0 as ModuleRangeDCStart_V0, ModuleRangeIBCType as ModuleRangeIBCType, ModuleRangeLoadPrivate_V0 as ModuleRangeLoadPrivate_V0, ModuleRangeLoad_V0 as ModuleRangeLoad_V0, ModuleRangeSectionType as ModuleRangeSectionType, PrvModuleRangeType as PrvModuleRangeType
from clrevents.schema.events.private_dynamic_types import BeginCreateManagedReference_V0 as BeginCreateManagedReference_V0, CCWVariance_V0 as CCWVariance_V0, ConvertToCallbackEtw_V0 as ConvertToCallbackEtw_V0, CreateCCW_V0 as CreateCCW_V0, CreateRCW_V0 as CreateRCW_V0, EndCreateManagedReference_V0 as EndCreateManagedReference_V0, GetTypeFromGUID_V0 as GetTypeFromGUID_V0, GetTypeFromProgID_V0 as GetTypeFromProgID_V0, IInspectableRuntimeClassName_V0 as IInspectableRuntimeClassName_V0, ObjectVariantMarshallingToManaged_V0 as ObjectVariantMarshallingToManaged_V0, ObjectVariantMarshallingToNative_V0 as ObjectVariantMarshallingToNative_V0, RCWIEnumerableCasting_V0 as RCWIEnumerableCasting_V0, RCWVariance_V0 as RCWVariance_V0, WinRTUnbox_V0 as WinRTUnbox_V0
from clrevents.schema.events.private_gc import BGC1stConEnd_V0 as BGC1stConEnd_V0, BGC1stNonConEnd_V0 as BGC1stNonConEnd_V0, BGC1stSweepEnd_V0 as BGC1stSweepEnd_V0, BGC2ndConBegin_V0 as BGC2ndConBegin_V0, BGC2ndConEnd_V0 as BGC2ndConEnd_V0, BGC2ndNonConBegin_V0 as BGC2ndNonConBegin_V0, BGC2ndNonConEnd_V0 as BGC2ndNonConEnd_V0, BGCAllocWaitBegin_V0 as BGCAllocWaitBegin_V0, BGCAllocWaitEnd_V0 as BGCAllocWaitEnd_V0, BGCBegin_V0 as BGCBegin_V0, BGCDrainMark_V0 as BGCDrainMark_V0, BGCOverflow_V0 as BGCOverflow_V0, BGCOverflow_V1 as BGCOverflow_V1, BGCPlanEnd_V0 as BGCPlanEnd_V0, BGCRevisit_V0 as BGCRevisit_V0, BGCSweepEnd_V0 as BGCSweepEnd_V0, GCDecision_V0 as GCDecision_V0, GCFullNotify_V0 as GCFullNotify_V0, GCOptimized_V0 as GCOptimized_V0, GCSettings_V0 as GCSettings_V0, PinPlugAtGCTime_V0 as PinPlugAtGCTime_V0, PrvDestroyGCHandle_V0 as PrvDestroyGCHandle_V0, PrvFinalizeObject_V0 as PrvFinalizeObject_V0, PrvGCGlobalHeapHistory_V0 as PrvGCGlobalHeapHistory_V0, PrvGCJoin_V0 as PrvGCJoin_V0, PrvGCJoin_V1 as PrvGCJoin_V1, PrvGCMarkCards_V0 as PrvGCMarkCards_V0, PrvGCMarkFinalizeQueueRoots_V0 as PrvGCMarkFinalizeQueueRoots_V0, PrvGCMarkHandles_V0 as PrvGCMarkHandles_V0, PrvGCMarkStackRoots_V0 as PrvGCMarkStackRoots_V0, PrvGCPerHeapHistory_V1 as PrvGCPerHeapHistory_V1, PrvGCPerHeapHistory_V2 as PrvGCPerHeapHistory_V2, PrvSetGCHandle_V0 as PrvSetGCHandle_V0
from clrevents.schema.events.private_loading import AllocRequest_V0 as AllocRequest_V0, BindingDownloadPhaseEnd_V0 as BindingDownloadPhaseEnd_V0, BindingDownloadPhaseStart_V0 as BindingDownloadPhaseStart_V0, BindingLookupAndProbingPhaseEnd_V0 as BindingLookupAndProbingPhaseEnd_V0, BindingLookupAndProbingPhaseStart_V0 as BindingLookupAndProbingPhaseStart_V0, BindingNgenPhaseEnd_V0 as BindingNgenPhaseEnd_V0, BindingNgenPhaseStart_V0 as BindingNgenPhaseStart_V0, BindingPhaseEnd_V0 as BindingPhaseEnd_V0, BindingPhaseStart_V0 as BindingPhaseStart_V0, BindingPolicyPhaseEnd_V0 as BindingPolicyPhaseEnd_V0, BindingPolicyPhaseStart_V0 as BindingPolicyPhaseStart_V0, CCWRefCountChangeAnsi_V0 as CCWRefCountChangeAnsi_V0, CCWRefCountChange_V0 as CCWRefCountChange_V0, FailFast_V0 as FailFast_V0, FusionErrorCodeEvent_V0 as FusionErrorCodeEvent_V0, FusionMessageEvent_V0 as FusionMessageEvent_V0, JittedMethodRichDebugInfoPiece as JittedMethodRichDebugInfoPiece, JittedMethodRichDebugInfo_V0 as JittedMethodRichDebugInfo_V0, LoaderAssemblyInitPhaseEnd_V0 as LoaderAssemblyInitPhaseEnd_V0, LoaderAssemblyInitPhaseStart_V0 as LoaderAssemblyInitPhaseStart_V0, LoaderDeliverEventsPhaseEnd_V0 as LoaderDeliverEventsPhaseEnd_V0, LoaderDeliverEventsPhaseStart_V0 as LoaderDeliverEventsPhaseStart_V0, LoaderMappingPhaseEnd_V0 as LoaderMappingPhaseEnd_V0, LoaderMappingPhaseStart_V0 as LoaderMappingPhaseStart_V0, LoaderPhaseEnd_V0 as LoaderPhaseEnd_V0, LoaderPhaseStart_V0 as LoaderPhaseStart_V0, MulticoreJitMethodCodeReturned_V0 as MulticoreJitMethodCodeReturned_V0, MulticoreJit_V0 as MulticoreJit_V0, NgenBindEvent_V0 as NgenBindEvent_V0, RichDebugInfoHead as RichDebugInfoHead, RichDebugMapping as RichDebugMapping, RichDebugSource as RichDebugSource, RichInlineNode as RichInlineNode
from clrevents.schema.events.private_security import EvidenceGenerated_V0 as EvidenceGenerated_V0, FieldTransparencyComputationEnd_V0 as FieldTransparencyComputationEnd_V0, FieldTransparencyComputationStart_V0 as FieldTransparencyComputationStart_V0, MethodTransparencyComputationEnd_V0 as MethodTransparencyComputationEnd_V0, MethodTransparencyComputationStart_V0 as MethodTransparencyComputationStart_V0, ModuleTransparencyComputationEnd_V0 as ModuleTransparencyComputationEnd_V0, ModuleTransparencyComputationStart_V0 as ModuleTransparencyComputationStart_V0, TokenTransparencyComputationEnd_V0 as TokenTransparencyComputationEnd_V0, TokenTransparencyComputationStart_V0 as TokenTransparencyComputationStart_V0, TypeTransparencyComputationEnd_V0 as TypeTransparencyComputationEnd_V0, TypeTransparencyComputationStart_V0 as TypeTransparencyComputationStart_V0
from clrevents.schema.events.private_startup import AllowBindingRedirsEnd_V0 as AllowBindingRedirsEnd_V0, AllowBindingRedirs_V0 as AllowBindingRedirs_V0, ApplyPolicyEnd_V0 as ApplyPolicyEnd_V0, ApplyPolicyStart_V0 as ApplyPolicyStart_V0, EEConfigSetupEnd_V0 as EEConfigSetupEnd_V0, EEConfigSetup_V0 as EEConfigSetup_V0, EEConfigSyncEnd_V0 as EEConfigSyncEnd_V0, EEConfigSync_V0 as EEConfigSync_V0, EEStartupEnd_V0 as EEStartupEnd_V0, EEStartupStart_V0 as EEStartupStart_V0, ExecExeEnd_V0 as ExecExeEnd_V0, ExecExe_V0 as ExecExe_V0, ExplicitBindEnd_V0 as ExplicitBindEnd_V0, ExplicitBindStart_V0 as ExplicitBindStart_V0, Fusion2EEEnd_V0 as Fusion2EEEnd_V0, Fusion2EE_V0 as Fusion2EE_V0, FusionAppCtxEnd_V0 as FusionAppCtxEnd_V0, FusionAppCtx_V0 as FusionAppCtx_V0, FusionBindingEnd_V0 as FusionBindingEnd_V0, FusionBinding_V0 as FusionBinding_V0, FusionInitEnd_V0 as FusionInitEnd_V0, FusionInit_V0 as FusionInit_V0, GetInstallationEnd_V0 as GetInstallationEnd_V0, GetInstallationStart_V0 as GetInstallationStart_V0, InitDefaultDomainEnd_V0 as InitDefaultDomainEnd_V0, InitDefaultDomain_V0 as InitDefaultDomain_V0, InitSecurityEnd_V0 as InitSecurityEnd_V0, InitSecurity_V0 as InitSecurity_V0, LdLibShFolderEnd_V0 as LdLibShFolderEnd_V0, LdLibShFolder_V0 as LdLibShFolder_V0, LdSysBasesEnd_V0 as LdSysBasesEnd_V0, LdSysBases_V0 as LdSysBases_V0, LoaderCatchCallEnd_V0 as LoaderCatchCallEnd_V0, LoaderCatchCall_V0 as LoaderCatchCall_V0, MainEnd_V0 as MainEnd_V0, Main_V0 as Main_V0, OpenHModuleEnd_V0 as OpenHModuleEnd_V0, OpenHModule_V0 as OpenHModule_V0, ParseXmlEnd_V0 as ParseXmlEnd_V0, ParseXml_V0 as ParseXml_V0, PrestubWorkerEnd_V0 as PrestubWorkerEnd_V0, PrestubWorker_V0 as PrestubWorker_V0, SecurityCatchCallEnd_V0 as SecurityCatchCallEnd_V0, SecurityCatchCall_V0 as SecurityCatchCall_V0
from clrevents.schema.events.recorder import EventsFiltered_V0 as EventsFiltered_V0, MachineProcessorTime_V0 as MachineProcessorTime_V0, NotCounted as NotCounted, ProcessFacts_V0 as ProcessFacts_V0, ProcessLimits_V0 as ProcessLimits_V0, ProcessProcessorTime_V0 as ProcessProcessorTime_V0, ProcessorCounting_V0 as ProcessorCounting_V0, ProcessorTime_V0 as ProcessorTime_V0, ThreadEnd_V0 as ThreadEnd_V0, ThreadName_V0 as ThreadName_V0
from clrevents.schema.events.rundown_marks import DCEndComplete_V0 as DCEndComplete_V0, DCEndInit_V0 as DCEndInit_V0, DCStartComplete_V0 as DCStartComplete_V0, DCStartInit_V0 as DCStartInit_V0, GCSettingsRundown_V0 as GCSettingsRundown_V0, MethodDCEndILToNativeMap_V0 as MethodDCEndILToNativeMap_V0, MethodDCEndILToNativeMap_V1 as MethodDCEndILToNativeMap_V1, MethodDCStartILToNativeMap_V0 as MethodDCStartILToNativeMap_V0, MethodDCStartILToNativeMap_V1 as MethodDCStartILToNativeMap_V1
from clrevents.schema.events.runtime_info import RuntimeInformationDCStart_V0 as RuntimeInformationDCStart_V0, RuntimeInformationStart_V0 as RuntimeInformationStart_V0, RuntimeSku as RuntimeSku, StartupFlags as StartupFlags, StartupMode as StartupMode
from clrevents.schema.events.security import AuthenticodeVerificationStart_V0 as AuthenticodeVerificationStart_V0, AuthenticodeVerificationStop_V0 as AuthenticodeVerificationStop_V0, StrongNameVerificationStart_V0 as StrongNameVerificationStart_V0, StrongNameVerificationStop_V0 as StrongNameVerificationStop_V0
from clrevents.schema.events.thread_pool import IOThreadCreate_V0 as IOThreadCreate_V0, IOThreadRetire_V0 as IOThreadRetire_V0, IOThreadTerminate_V0 as IOThreadTerminate_V0, IOThreadUnretire_V0 as IOThreadUnretire_V0, ThreadPoolDequeue_V0 as ThreadPoolDequeue_V0, ThreadPoolEnqueue_V0 as ThreadPoolEnqueue_V0, ThreadPoolIODequeue_V0 as ThreadPoolIODequeue_V0, ThreadPoolIOEnqueue_V0 as ThreadPoolIOEnqueue_V0, ThreadPoolIOPack_V0 as ThreadPoolIOPack_V0, ThreadPoolMinMaxThreads_V0 as ThreadPoolMinMaxThreads_V0, ThreadPoolWorkerThreadAdjustmentAdjustment_V0 as ThreadPoolWorkerThreadAdjustmentAdjustment_V0, ThreadPoolWorkerThreadAdjustmentSample_V0 as ThreadPoolWorkerThreadAdjustmentSample_V0, ThreadPoolWorkerThreadAdjustmentStats_V0 as ThreadPoolWorkerThreadAdjustmentStats_V0, ThreadPoolWorkerThreadRetirementStart_V0 as ThreadPoolWorkerThreadRetirementStart_V0, ThreadPoolWorkerThreadRetirementStop_V0 as ThreadPoolWorkerThreadRetirementStop_V0, ThreadPoolWorkerThreadStart_V0 as ThreadPoolWorkerThreadStart_V0, ThreadPoolWorkerThreadStop_V0 as ThreadPoolWorkerThreadStop_V0, ThreadPoolWorkerThreadWait_V0 as ThreadPoolWorkerThreadWait_V0, ThreadPoolWorkingThreadCount_V0 as ThreadPoolWorkingThreadCount_V0, ThreadpoolSuspensionResumeThread_V0 as ThreadpoolSuspensionResumeThread_V0, ThreadpoolSuspensionSuspendThread_V0 as ThreadpoolSuspensionSuspendThread_V0, WorkerThreadCreate_V0 as WorkerThreadCreate_V0, WorkerThreadRetire_V0 as WorkerThreadRetire_V0, WorkerThreadTerminate_V0 as WorkerThreadTerminate_V0, WorkerThreadUnretire_V0 as WorkerThreadUnretire_V0
from clrevents.schema.events.threads import ThreadCreating_V0 as ThreadCreating_V0, ThreadRunning_V0 as ThreadRunning_V0, WaitHandleWaitSource as WaitHandleWaitSource, WaitHandleWaitStart_V0 as WaitHandleWaitStart_V0, WaitHandleWaitStop_V0 as WaitHandleWaitStop_V0, YieldProcessorMeasurement_V0 as YieldProcessorMeasurement_V0
from clrevents.schema.events.tiering import R2RGetEntryPointStart_V0 as R2RGetEntryPointStart_V0, R2RGetEntryPoint_V0 as R2RGetEntryPoint_V0, R2RGetEntryPoint_V1 as R2RGetEntryPoint_V1, TieredCompilationBackgroundJitStart_V0 as TieredCompilationBackgroundJitStart_V0, TieredCompilationBackgroundJitStop_V0 as TieredCompilationBackgroundJitStop_V0, TieredCompilationPause_V0 as TieredCompilationPause_V0, TieredCompilationResume_V0 as TieredCompilationResume_V0, TieredCompilationSettingsDCStart_V0 as TieredCompilationSettingsDCStart_V0, TieredCompilationSettings_V0 as TieredCompilationSettings_V0
from clrevents.schema.events.types import BulkTypeValue as BulkTypeValue, BulkType_V0 as BulkType_V0, TypeFlags as TypeFlags, TypeLoadStart_V0 as TypeLoadStart_V0, TypeLoadStop_V0 as TypeLoadStop_V0
from clrevents.schema.events.universal import ExistingProcess_V0 as ExistingProcess_V0, ProcessCreate_V0 as ProcessCreate_V0, ProcessExit_V0 as ProcessExit_V0, ProcessMappingHead as ProcessMappingHead, ProcessMappingMetadata_V0 as ProcessMappingMetadata_V0, ProcessMappingWithMetadata as ProcessMappingWithMetadata, ProcessMapping_V0 as ProcessMapping_V0, ProcessSymbol_V0 as ProcessSymbol_V0
from clrevents.schema.keywords import MonoKeyword as MonoKeyword, PrivateKeyword as PrivateKeyword, RundownKeyword as RundownKeyword, RuntimeKeyword as RuntimeKeyword, StressKeyword as StressKeyword, TplKeyword as TplKeyword
from clrevents.schema.runtime_flags import AppDomainFlags as AppDomainFlags, AssemblyFlags as AssemblyFlags, ExceptionThrownFlags as ExceptionThrownFlags, GCAllocationKind as GCAllocationKind, GCBulkRootKind as GCBulkRootKind, GCHandleKind as GCHandleKind, GCRootKind as GCRootKind, JitAllocFlag as JitAllocFlag, MethodExtent as MethodExtent, MethodFlags as MethodFlags, ModuleFlags as ModuleFlags, ModuleRangeType as ModuleRangeType, OptimizationTier as OptimizationTier, ThreadAdjustmentReason as ThreadAdjustmentReason, TieredCompilationFlags as TieredCompilationFlags
from clrevents.schema.events.loader import BuildFields, IndexFields, PdbFields
from clrevents.schema.events.method import ReJITFields

@struct
class StressLogEvent_V1(InstanceFields, StressLogEvent_V0): ...

@struct
class GCCreateConcurrentThread_V1(InstanceFields, GCCreateConcurrentThread_V0): ...

@struct
class GCTerminateConcurrentThread_V1(InstanceFields, GCTerminateConcurrentThread_V0): ...

@struct
class GCRestartEEEnd_V1(InstanceFields, GCRestartEEEnd_V0): ...

@struct
class GCRestartEEBegin_V1(InstanceFields, GCRestartEEBegin_V0): ...

@struct
class GCSuspendEEEnd_V1(InstanceFields, GCSuspendEEEnd_V0): ...

@struct
class GCCreateSegment_V1(InstanceFields, GCCreateSegment_V0): ...

@struct
class GCFreeSegment_V1(InstanceFields, GCFreeSegment_V0): ...

@struct
class GCFinalizersEnd_V1(InstanceFields, GCFinalizersEnd_V0): ...

@struct
class GCFinalizersBegin_V1(InstanceFields, GCFinalizersBegin_V0): ...

@struct
class DomainModuleLoad_V1(InstanceFields, DomainModuleLoad_V0): ...

@struct
class ModuleLoad_V1(InstanceFields, ModuleLoad_V0): ...

@struct
class ModuleLoad_V2(PdbFields, ModuleLoad_V1): ...

@struct
class ModuleLoad_V3(BuildFields, ModuleLoad_V2): ...

@struct
class ModuleUnload_V1(InstanceFields, ModuleUnload_V0): ...

@struct
class ModuleUnload_V2(PdbFields, ModuleUnload_V1): ...

@struct
class AppDomainLoad_V1(IndexFields, AppDomainLoad_V0): ...

@struct
class AppDomainUnload_V1(IndexFields, AppDomainUnload_V0): ...

@struct
class AppDomainDCStart_V1(IndexFields, AppDomainDCStart_V0): ...

@struct
class AppDomainDCEnd_V1(IndexFields, AppDomainDCEnd_V0): ...

@struct
class DomainModuleDCStart_V1(InstanceFields, DomainModuleDCStart_V0): ...

@struct
class DomainModuleDCEnd_V1(InstanceFields, DomainModuleDCEnd_V0): ...

@struct
class ModuleDCStart_V1(InstanceFields, ModuleDCStart_V0): ...

@struct
class ModuleDCStart_V2(PdbFields, ModuleDCStart_V1): ...

@struct
class ModuleDCEnd_V1(InstanceFields, ModuleDCEnd_V0): ...

@struct
class ModuleDCEnd_V2(PdbFields, ModuleDCEnd_V1): ...

@struct
class ModuleDCEnd_V3(BuildFields, ModuleDCEnd_V2): ...

@struct
class MethodLoad_V1(InstanceFields, MethodLoad_V0): ...

@struct
class MethodLoad_V2(ReJITFields, MethodLoad_V1): ...

@struct
class MethodUnload_V1(InstanceFields, MethodUnload_V0): ...

@struct
class MethodUnload_V2(ReJITFields, MethodUnload_V1): ...

@struct
class MethodLoadVerbose_V1(InstanceFields, MethodLoadVerbose_V0): ...

@struct
class MethodLoadVerbose_V2(ReJITFields, MethodLoadVerbose_V1): ...

@struct
class MethodUnloadVerbose_V1(InstanceFields, MethodUnloadVerbose_V0): ...

@struct
class MethodUnloadVerbose_V2(ReJITFields, MethodUnloadVerbose_V1): ...

@struct
class MethodJittingStarted_V1(InstanceFields, MethodJittingStarted_V0): ...

@struct
class MethodDCStart_V1(InstanceFields, MethodDCStart_V0): ...

@struct
class MethodDCStart_V2(ReJITFields, MethodDCStart_V1): ...

@struct
class MethodDCEnd_V1(InstanceFields, MethodDCEnd_V0): ...

@struct
class MethodDCEnd_V2(ReJITFields, MethodDCEnd_V1): ...

@struct
class MethodDCStartVerbose_V1(InstanceFields, MethodDCStartVerbose_V0): ...

@struct
class MethodDCStartVerbose_V2(ReJITFields, MethodDCStartVerbose_V1): ...

@struct
class MethodDCEndVerbose_V1(InstanceFields, MethodDCEndVerbose_V0): ...

@struct
class MethodDCEndVerbose_V2(ReJITFields, MethodDCEndVerbose_V1): ...

@struct
class GCDecision_V1(InstanceFields, GCDecision_V0): ...

@struct
class GCSettings_V1(InstanceFields, GCSettings_V0): ...

@struct
class GCOptimized_V1(InstanceFields, GCOptimized_V0): ...

@struct
class PrvGCGlobalHeapHistory_V1(InstanceFields, PrvGCGlobalHeapHistory_V0): ...

@struct
class GCFullNotify_V1(InstanceFields, GCFullNotify_V0): ...

@struct
class PrvGCMarkStackRoots_V1(InstanceFields, PrvGCMarkStackRoots_V0): ...

@struct
class PrvGCMarkFinalizeQueueRoots_V1(InstanceFields, PrvGCMarkFinalizeQueueRoots_V0): ...

@struct
class PrvGCMarkHandles_V1(InstanceFields, PrvGCMarkHandles_V0): ...

@struct
class PrvGCMarkCards_V1(InstanceFields, PrvGCMarkCards_V0): ...

@struct
class EEStartupStart_V1(InstanceFields, EEStartupStart_V0): ...

@struct
class EEStartupEnd_V1(InstanceFields, EEStartupEnd_V0): ...

@struct
class EEConfigSetup_V1(InstanceFields, EEConfigSetup_V0): ...

@struct
class EEConfigSetupEnd_V1(InstanceFields, EEConfigSetupEnd_V0): ...

@struct
class LdSysBases_V1(InstanceFields, LdSysBases_V0): ...

@struct
class LdSysBasesEnd_V1(InstanceFields, LdSysBasesEnd_V0): ...

@struct
class ExecExe_V1(InstanceFields, ExecExe_V0): ...

@struct
class ExecExeEnd_V1(InstanceFields, ExecExeEnd_V0): ...

@struct
class Main_V1(InstanceFields, Main_V0): ...

@struct
class MainEnd_V1(InstanceFields, MainEnd_V0): ...

@struct
class ExplicitBindStart_V1(InstanceFields, ExplicitBindStart_V0): ...

@struct
class ExplicitBindEnd_V1(InstanceFields, ExplicitBindEnd_V0): ...

@struct
class ParseXml_V1(InstanceFields, ParseXml_V0): ...

@struct
class ParseXmlEnd_V1(InstanceFields, ParseXmlEnd_V0): ...

@struct
class InitDefaultDomain_V1(InstanceFields, InitDefaultDomain_V0): ...

@struct
class InitDefaultDomainEnd_V1(InstanceFields, InitDefaultDomainEnd_V0): ...

@struct
class InitSecurity_V1(InstanceFields, InitSecurity_V0): ...

@struct
class InitSecurityEnd_V1(InstanceFields, InitSecurityEnd_V0): ...

@struct
class AllowBindingRedirs_V1(InstanceFields, AllowBindingRedirs_V0): ...

@struct
class AllowBindingRedirsEnd_V1(InstanceFields, AllowBindingRedirsEnd_V0): ...

@struct
class EEConfigSync_V1(InstanceFields, EEConfigSync_V0): ...

@struct
class EEConfigSyncEnd_V1(InstanceFields, EEConfigSyncEnd_V0): ...

@struct
class FusionBinding_V1(InstanceFields, FusionBinding_V0): ...

@struct
class FusionBindingEnd_V1(InstanceFields, FusionBindingEnd_V0): ...

@struct
class LoaderCatchCall_V1(InstanceFields, LoaderCatchCall_V0): ...

@struct
class LoaderCatchCallEnd_V1(InstanceFields, LoaderCatchCallEnd_V0): ...

@struct
class FusionInit_V1(InstanceFields, FusionInit_V0): ...

@struct
class FusionInitEnd_V1(InstanceFields, FusionInitEnd_V0): ...

@struct
class FusionAppCtx_V1(InstanceFields, FusionAppCtx_V0): ...

@struct
class FusionAppCtxEnd_V1(InstanceFields, FusionAppCtxEnd_V0): ...

@struct
class Fusion2EE_V1(InstanceFields, Fusion2EE_V0): ...

@struct
class Fusion2EEEnd_V1(InstanceFields, Fusion2EEEnd_V0): ...

@struct
class SecurityCatchCall_V1(InstanceFields, SecurityCatchCall_V0): ...

@struct
class SecurityCatchCallEnd_V1(InstanceFields, SecurityCatchCallEnd_V0): ...

@struct
class ApplyPolicyStart_V1(InstanceFields, ApplyPolicyStart_V0): ...

@struct
class ApplyPolicyEnd_V1(InstanceFields, ApplyPolicyEnd_V0): ...

@struct
class LdLibShFolder_V1(InstanceFields, LdLibShFolder_V0): ...

@struct
class LdLibShFolderEnd_V1(InstanceFields, LdLibShFolderEnd_V0): ...

@struct
class PrestubWorker_V1(InstanceFields, PrestubWorker_V0): ...

@struct
class PrestubWorkerEnd_V1(InstanceFields, PrestubWorkerEnd_V0): ...

@struct
class GetInstallationStart_V1(InstanceFields, GetInstallationStart_V0): ...

@struct
class GetInstallationEnd_V1(InstanceFields, GetInstallationEnd_V0): ...

@struct
class OpenHModule_V1(InstanceFields, OpenHModule_V0): ...

@struct
class OpenHModuleEnd_V1(InstanceFields, OpenHModuleEnd_V0): ...

@struct
class DCStartComplete_V1(InstanceFields, DCStartComplete_V0): ...

@struct
class DCEndComplete_V1(InstanceFields, DCEndComplete_V0): ...

@struct
class DCStartInit_V1(InstanceFields, DCStartInit_V0): ...

@struct
class DCEndInit_V1(InstanceFields, DCEndInit_V0): ...

@struct
class StrongNameVerificationStart_V1(InstanceFields, StrongNameVerificationStart_V0): ...

@struct
class StrongNameVerificationStop_V1(InstanceFields, StrongNameVerificationStop_V0): ...

@struct
class AuthenticodeVerificationStart_V1(InstanceFields, AuthenticodeVerificationStart_V0): ...

@struct
class AuthenticodeVerificationStop_V1(InstanceFields, AuthenticodeVerificationStop_V0): ...

@struct
class IOThreadCreate_V1(InstanceFields, IOThreadCreate_V0): ...

@struct
class IOThreadTerminate_V1(InstanceFields, IOThreadTerminate_V0): ...

@struct
class IOThreadRetire_V1(InstanceFields, IOThreadRetire_V0): ...

@struct
class IOThreadUnretire_V1(InstanceFields, IOThreadUnretire_V0): ...
