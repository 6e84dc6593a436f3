"""Made by tools/make.py: what lists of reports and `info` say of each, so that they load none."""

NEED = tuple[str, tuple[str, ...], int, int, str, bool, int | None, str]
REPORTS: dict[str, tuple[str, str, tuple[NEED, ...]]] = {
    'activities': (
        'Show activities of any provider, their parents and durations.',
        'Which activities were there, how long did each take, and what started them?',
        (
            ('activities', ('start-stop',), 128, 4, 'System.Threading.Tasks.TplEventSource', True, None, ''),
        ),
    ),
    'alloc': (
        'What was allocated: by type, by stack, by thread and over time.',
        'What was allocated, and by which code?',
        (
            ('allocations', ('GCAllocationTick', 'AllocationSampled', 'GCSampledObjectAllocationHigh', 'GCSampledObjectAllocationLow'), 1, 5, 'Microsoft-Windows-DotNETRuntime', True, 0, ''),
            ('allocations of rare types', ('AllocationSampled', 'GCSampledObjectAllocationHigh', 'GCSampledObjectAllocationLow'), 8796093022208, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
        ),
    ),
    'callers': (
        'Show who calls a method and what it calls, as trees.',
        'Who calls this method, and what does it call?',
        (
            ('where threads spend their time', ('ThreadSample', 'Universal.Events/cpu'), 0, 4, 'Microsoft-DotNETCore-SampleProfiler', True, None, ''),
        ),
    ),
    'counters': (
        'Show the values of counters and metrics over time.',
        'How did counters and metrics change over time?',
        (
            ('counters or metrics', ('EventCounters', '*/EventCounters', 'System.Diagnostics.Metrics/CollectionStart', 'System.Diagnostics.Metrics/CounterRateValuePublished', 'System.Diagnostics.Metrics/UpDownCounterRateValuePublished', 'System.Diagnostics.Metrics/GaugeValuePublished', 'System.Diagnostics.Metrics/HistogramValuePublished', 'System.Diagnostics.Metrics/Base2ExponentialHistogramValuePublished'), 0, 4, 'System.Runtime', True, 0, 'EventCounterIntervalSec=1'),
            ('counters of EventSources', ('EventCounters', '*/EventCounters'), 0, 4, 'System.Runtime', False, 0, 'EventCounterIntervalSec=1'),
            ('metrics of meters', ('CollectionStart', 'CounterRateValuePublished', 'UpDownCounterRateValuePublished', 'GaugeValuePublished', 'HistogramValuePublished', 'Base2ExponentialHistogramValuePublished'), 2, 4, 'System.Diagnostics.Metrics', False, 0, 'Metrics=System.Runtime'),
        ),
    ),
    'exceptions': (
        'What was thrown, where, who caught it, and what it cost.',
        'What is thrown, where, and what does it cost?',
        (
            ('exceptions', ('ExceptionThrown',), 32768, 2, 'Microsoft-Windows-DotNETRuntime', True, None, ''),
            ('exception handlers and their times', ('ExceptionCatchStart', 'ExceptionFilterStart', 'ExceptionFinallyStart', 'ExceptionCatchStop', 'ExceptionFilterStop', 'ExceptionFinallyStop', 'ExceptionThrownStop'), 32768, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
        ),
    ),
    'gc': (
        'Show the garbage collections: pauses, heap sizes, reasons.',
        'Which garbage collections ran, and how long did they stop the program?',
        (
            ('collections', ('GCStart', 'GCEnd', 'GCSuspendEEBegin'), 1, 4, 'Microsoft-Windows-DotNETRuntime', True, None, ''),
        ),
    ),
    'heap': (
        'What is on the heap, and what keeps it alive, from heap snapshots.',
        'What is on the heap, and what keeps it alive?',
        (
            ('objects', ('GCBulkNode',), 26738689, 5, 'Microsoft-Windows-DotNETRuntime', True, 1048576, ''),
            ('references', ('GCBulkEdge',), 26738689, 5, 'Microsoft-Windows-DotNETRuntime', False, 1048576, ''),
            ('roots', ('GCBulkRootEdge',), 26738689, 5, 'Microsoft-Windows-DotNETRuntime', False, 1048576, ''),
            ('static fields', ('GCBulkRootStaticVar',), 26738689, 5, 'Microsoft-Windows-DotNETRuntime', False, 1048576, ''),
            ('names of types', ('BulkType',), 26738689, 5, 'Microsoft-Windows-DotNETRuntime', False, 524288, ''),
            ('collections', ('GCStart',), 26738689, 5, 'Microsoft-Windows-DotNETRuntime', False, 1, ''),
        ),
    ),
    'jit': (
        'Show what the JIT compiled, when, and for how long.',
        'What did the JIT compile, and how long did it take?',
        (
            ('compilations', ('MethodLoadVerbose', 'MethodLoad'), 24, 4, 'Microsoft-Windows-DotNETRuntime', True, 16, ''),
            ('times and IL sizes', ('MethodJittingStarted',), 24, 5, 'Microsoft-Windows-DotNETRuntime', False, 16, ''),
            ('decisions about inlining and tail calls', ('MethodJitInliningSucceeded', 'MethodJitInliningFailed', 'MethodJitInliningFailedAnsi', 'MethodJitTailCallSucceeded', 'MethodJitTailCallFailed', 'MethodJitTailCallFailedAnsi'), 4120, 5, 'Microsoft-Windows-DotNETRuntime', False, 4096, ''),
            ('look-ups of precompiled code', ('R2RGetEntryPoint',), 137438953496, 4, 'Microsoft-Windows-DotNETRuntime', False, 137438953472, ''),
            ("the background compiler's turns", ('TieredCompilationBackgroundJitStart', 'TieredCompilationPause', 'TieredCompilationSettings'), 68719476760, 4, 'Microsoft-Windows-DotNETRuntime', False, 68719476736, ''),
        ),
    ),
    'locks': (
        'Show which locks threads waited for, who held them, and convoys.',
        'Which locks did threads wait for, and who held them?',
        (
            ('contentions', ('ContentionStart', 'ContentionStop'), 81920, 4, 'Microsoft-Windows-DotNETRuntime', True, 16384, ''),
            ('what lock holders do', ('ThreadSample',), 0, 4, 'Microsoft-DotNETCore-SampleProfiler', False, None, ''),
        ),
    ),
    'modules': (
        'List modules, their lifetimes, and how much of each was compiled.',
        'Which modules did the process have, and how much of each was compiled?',
        (
            ('modules', ('ModuleLoad', 'rundown/ModuleDCEnd', 'rundown/ModuleDCStart'), 8, 4, 'Microsoft-Windows-DotNETRuntime', True, None, ''),
            ('when modules were loaded', ('ModuleLoad',), 8, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('compiled methods', ('MethodLoadVerbose', 'MethodLoad'), 24, 4, 'Microsoft-Windows-DotNETRuntime', False, 16, ''),
            ('compilation times', ('MethodJittingStarted',), 24, 5, 'Microsoft-Windows-DotNETRuntime', False, 16, ''),
            ('methods with precompiled code', ('R2RGetEntryPoint',), 412316860424, 4, 'Microsoft-Windows-DotNETRuntime', False, 137438953472, ''),
            ('the modules of methods with precompiled code', ('MethodDetails',), 412316860424, 4, 'Microsoft-Windows-DotNETRuntime', False, 274877906944, ''),
        ),
    ),
    'pool': (
        'Show whether the thread pool is starved, and by whom.',
        'Is the thread pool starved, and by whom?',
        (
            ('the thread pool', ('ThreadPoolWorkerThreadAdjustmentAdjustment', 'ThreadPoolWorkerThreadAdjustmentSample', 'ThreadPoolWorkerThreadAdjustmentStats', 'ThreadPoolMinMaxThreads', 'ThreadPoolWorkingThreadCount', 'ThreadPoolWorkerThreadStart', 'ThreadPoolWorkerThreadStop', 'ThreadPoolWorkerThreadWait', 'ThreadPoolWorkerThreadRetirementStart', 'ThreadPoolWorkerThreadRetirementStop', 'IOThreadCreate', 'IOThreadTerminate', 'IOThreadRetire', 'IOThreadUnretire', 'ThreadPoolEnqueue', 'ThreadPoolDequeue', 'ThreadPoolIOEnqueue', 'ThreadPoolIODequeue', 'System.Diagnostics.Eventing.FrameworkEventSource/ThreadPoolEnqueueWork', 'System.Diagnostics.Eventing.FrameworkEventSource/ThreadPoolDequeueWork', 'System.Threading.Tasks.TplEventSource/TaskScheduled', 'System.Threading.Tasks.TplEventSource/TaskStarted'), 65536, 4, 'Microsoft-Windows-DotNETRuntime', True, None, ''),
            ('how the pool changed its number of workers', ('ThreadPoolWorkerThreadAdjustmentAdjustment', 'ThreadPoolWorkerThreadAdjustmentSample', 'ThreadPoolWorkerThreadAdjustmentStats', 'ThreadPoolMinMaxThreads', 'ThreadPoolWorkingThreadCount', 'ThreadPoolWorkerThreadStart', 'ThreadPoolWorkerThreadStop', 'ThreadPoolWorkerThreadWait', 'ThreadPoolWorkerThreadRetirementStart', 'ThreadPoolWorkerThreadRetirementStop', 'IOThreadCreate', 'IOThreadTerminate', 'IOThreadRetire', 'IOThreadUnretire'), 65536, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('how long work waited for a worker', ('TaskScheduled', 'TaskStarted', 'System.Diagnostics.Eventing.FrameworkEventSource/ThreadPoolEnqueueWork', 'System.Diagnostics.Eventing.FrameworkEventSource/ThreadPoolDequeueWork', 'runtime/ThreadPoolEnqueue', 'runtime/ThreadPoolDequeue', 'runtime/ThreadPoolIOEnqueue', 'runtime/ThreadPoolIODequeue'), 3, 4, 'System.Threading.Tasks.TplEventSource', False, None, ''),
            ('what blocked workers', ('ThreadSample', 'System.Threading.Tasks.TplEventSource/TaskWaitBegin'), 0, 4, 'Microsoft-DotNETCore-SampleProfiler', False, None, ''),
        ),
    ),
    'requests': (
        'Show HTTP requests, the time in their parts, and who served them.',
        'Which requests were slow, and what took their time?',
        (
            ('requests', ('RequestStart', 'Microsoft.AspNetCore.Hosting/RequestStart', 'Microsoft-AspNetCore-Server-Kestrel/RequestStart'), 0, 4, 'System.Net.Http', True, None, ''),
            ('requests of clients', ('RequestStart',), 0, 4, 'System.Net.Http', False, None, ''),
            ('requests of servers', ('RequestStart', 'Microsoft-AspNetCore-Server-Kestrel/RequestStart'), 0, 4, 'Microsoft.AspNetCore.Hosting', False, None, ''),
            ('connections of servers', ('RequestStart',), 0, 4, 'Microsoft-AspNetCore-Server-Kestrel', False, None, ''),
            ('which events belong to which request', ('start-stop',), 128, 4, 'System.Threading.Tasks.TplEventSource', False, None, ''),
            ('exceptions in requests', ('ExceptionThrown',), 32768, 2, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('garbage collection pauses', ('GCStart', 'GCSuspendEEBegin'), 1, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('waits for locks in requests', ('ContentionStart', 'ContentionStop'), 16384, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('waits for handles and monitors in requests', ('WaitHandleWaitStart', 'WaitHandleWaitStop'), 4398046511104, 5, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('waits for tasks in requests', ('TaskWaitBegin', 'TaskWaitEnd'), 3, 5, 'System.Threading.Tasks.TplEventSource', False, None, ''),
            ('where code of requests awaits', ('TaskWaitBegin', 'TaskWaitEnd', 'System.Runtime.CompilerServices.AsyncProfilerEventSource/CreateRuntimeAsyncContext', 'System.Runtime.CompilerServices.AsyncProfilerEventSource/CreateStateMachineAsyncContext'), 3, 5, 'System.Threading.Tasks.TplEventSource', False, None, ''),
        ),
    ),
    'startup': (
        'Show what a program does until Main, and what it costs.',
        'What did the program do until Main, and until start-up was over?',
        (
            ('when the runtime started', ('RuntimeInformationStart',), 8, 4, 'Microsoft-Windows-DotNETRuntime', True, 0, ''),
            ("which modules are the program's", ('ModuleLoad', 'rundown/ModuleDCEnd'), 8, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('compilations', ('MethodJittingStarted',), 16, 5, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('tiers of compilations', ('MethodLoadVerbose',), 16, 5, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('assembly loads', ('AssemblyLoadStart',), 4, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('look-ups of precompiled code', ('R2RGetEntryPoint',), 137438953472, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('modules of precompiled code', ('MethodDetails',), 274877906944, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('type loads', ('TypeLoadStart',), 549755813888, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('when start-up was over', ('TieredCompilationResume', 'TieredCompilationPause'), 68719476736, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
        ),
    ),
    'stubs': (
        'List the IL stubs that marshal P/Invoke and delegate calls.',
        'Which calls between managed and native code needed a stub, and what did it cost?',
        (
            ('stubs', ('ILStubGenerated',), 8192, 4, 'Microsoft-Windows-DotNETRuntime', True, None, ''),
            ('compilation times', ('MethodJittingStarted',), 8208, 5, 'Microsoft-Windows-DotNETRuntime', False, 16, ''),
        ),
    ),
    'tasks': (
        'Show tasks and awaits: what started them, and what blocks on them.',
        'Which tasks and awaits ran, what started them, and what blocks on tasks?',
        (
            ('tasks, continuations and awaits', ('TaskWaitBegin', 'TaskScheduled', 'AwaitTaskContinuationScheduled', 'TaskStarted', 'System.Runtime.CompilerServices.AsyncProfilerEventSource/CreateRuntimeAsyncContext', 'System.Runtime.CompilerServices.AsyncProfilerEventSource/CreateStateMachineAsyncContext', 'System.Runtime.CompilerServices.AsyncProfilerEventSource/ResumeRuntimeAsyncCallstack', 'System.Runtime.CompilerServices.AsyncProfilerEventSource/ResumeStateMachineAsyncCallstack'), 3, 4, 'System.Threading.Tasks.TplEventSource', True, None, ''),
            ('when awaits resume and waits for tasks end', ('TaskWaitEnd', 'System.Runtime.CompilerServices.AsyncProfilerEventSource/ResumeRuntimeAsyncCallstack', 'System.Runtime.CompilerServices.AsyncProfilerEventSource/ResumeStateMachineAsyncCallstack'), 2, 5, 'System.Threading.Tasks.TplEventSource', False, None, ''),
            ('what threads run, and so what creates what outside tasks', ('TaskWaitContinuationComplete', 'System.Runtime.CompilerServices.AsyncProfilerEventSource/CompleteRuntimeAsyncMethod', 'System.Runtime.CompilerServices.AsyncProfilerEventSource/CompleteStateMachineAsyncMethod'), 64, 5, 'System.Threading.Tasks.TplEventSource', False, None, ''),
            ('when tasks complete', ('TaskCompleted', 'TaskWaitContinuationComplete', 'System.Runtime.CompilerServices.AsyncProfilerEventSource/CompleteRuntimeAsyncMethod', 'System.Runtime.CompilerServices.AsyncProfilerEventSource/CompleteStateMachineAsyncMethod'), 66, 4, 'System.Threading.Tasks.TplEventSource', False, None, ''),
        ),
    ),
    'threads': (
        'What each thread did at every moment, and how that is known.',
        'What did each thread do at every moment?',
        (
            ('threads', ('Microsoft-DotNETCore-SampleProfiler/ThreadSample', 'ThreadCreated', 'ContentionStart', 'WaitHandleWaitStart', 'ThreadPoolWorkerThreadWait', 'GCSuspendEEBegin', 'System.Threading.Tasks.TplEventSource/TaskWaitBegin', 'Universal.Events/cswitch'), 65536, 4, 'Microsoft-Windows-DotNETRuntime', True, None, ''),
            ('what threads do between events', ('ThreadSample', 'Universal.Events/cswitch'), 0, 4, 'Microsoft-DotNETCore-SampleProfiler', False, None, ''),
            ('waits for locks', ('ContentionStart',), 16384, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('both ends of waits for handles and monitors', ('WaitHandleWaitStart',), 4398046511104, 5, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('both ends of waits for tasks', ('TaskWaitBegin',), 3, 4, 'System.Threading.Tasks.TplEventSource', False, None, ''),
            ('when threads began', ('ThreadCreated',), 65536, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('when threads were stopped for a garbage collection', ('GCSuspendEEBegin',), 1, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
        ),
    ),
    'top': (
        'List the methods or modules with the most time.',
        'Where is the time spent?',
        (
            ('where threads spend their time', ('ThreadSample', 'Universal.Events/cpu'), 0, 4, 'Microsoft-DotNETCore-SampleProfiler', True, None, ''),
        ),
    ),
    'waits': (
        'Show what threads waited for, and which methods block on tasks.',
        'What did threads wait for, and which methods blocked them?',
        (
            ('waits', ('ThreadSample', 'Universal.Events/cswitch', 'runtime/WaitHandleWaitStart', 'runtime/WaitHandleWaitStop', 'runtime/ContentionStart', 'runtime/ContentionStop', 'tpl/TaskWaitBegin'), 0, 4, 'Microsoft-DotNETCore-SampleProfiler', True, None, ''),
            ('waits without events, such as sleeps', ('ThreadSample', 'Universal.Events/cswitch'), 0, 4, 'Microsoft-DotNETCore-SampleProfiler', False, None, ''),
            ('both ends of waits for handles and monitors', ('WaitHandleWaitStart', 'WaitHandleWaitStop'), 4398046511104, 5, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
            ('both ends of waits for tasks', ('TaskWaitBegin', 'TaskWaitEnd'), 3, 4, 'System.Threading.Tasks.TplEventSource', False, None, ''),
            ('both ends of waits for locks', ('ContentionStart', 'ContentionStop'), 16384, 4, 'Microsoft-Windows-DotNETRuntime', False, None, ''),
        ),
    ),
}
