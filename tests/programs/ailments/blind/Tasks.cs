// Tasks and the thread pool.

// Tasks block on tasks.
static class Profile
{
    static readonly Total blocked = new();
    static long loaded;

    public static void Go()
    {
        if (Story.Trap)
            // Only the program's entry waits for a task; its pool is free.
            Everything().GetAwaiter().GetResult();
        else
        {
            Task[] tasks = new Task[24];
            for (int i = 0; i < tasks.Length; i++)
                tasks[i] = Story.Sick ? Task.Run(Serve) : ServeAsync();
            Task.WaitAll(tasks);
        }
        blocked.Say("blocked");
        Story.Say("loaded", loaded);
    }

    static void Serve()
    {
        while (Story.Goes)
        {
            Load();
            Interlocked.Increment(ref loaded);
        }
    }

    [MethodImpl(NoInlining)]
    static void Load()
    {
        double before = Story.Time;
        Interlocked.Add(ref Story.Sink, FetchAsync().Result);
        blocked.Add(Story.Time - before);
    }

    static async Task ServeAsync()
    {
        while (Story.Goes)
        {
            Interlocked.Add(ref Story.Sink, await FetchAsync().ConfigureAwait(false));
            Interlocked.Increment(ref loaded);
        }
    }

    static async Task Everything()
    {
        while (Story.Goes)
        {
            Story.Sink += await FetchAsync();
            loaded++;
        }
    }

    static async Task<long> FetchAsync()
    {
        await Task.Delay(40).ConfigureAwait(false);
        return Story.Grind(20_000);
    }
}

// Work that sleeps holds all threads of the pool; small work queues behind it.
static class Thumbnails
{
    static readonly Total queued = new(), held = new();

    public static void Go()
    {
        ThreadPool.SetMinThreads(2, 2);
        int running = 0;
        while (Story.Goes)
        {
            int limit = Story.Trap ? 1 : 30;
            while (Volatile.Read(ref running) < limit)
            {
                Interlocked.Increment(ref running);
                if (Story.Healthy)
                    _ = RenderAsync().ContinueWith(t => Interlocked.Decrement(ref running));
                else
                    ThreadPool.QueueUserWorkItem(_ => { Render(); Interlocked.Decrement(ref running); });
            }
            double put = Story.Time;
            ThreadPool.QueueUserWorkItem(_ => queued.Add(Story.Time - put));
            Thread.Sleep(25);
        }
        queued.Say("queued");
        held.Say("held");
    }

    // In the trap one at a time: the other thread of the pool is free.
    [MethodImpl(NoInlining)]
    static void Render()
    {
        double before = Story.Time;
        Thread.Sleep(200);
        held.Add(Story.Time - before);
    }

    static async Task RenderAsync() => await Task.Delay(200);
}

// Asynchronous loops look every few milliseconds whether something has come: no thread is held, but timers fire.
static class Watchers
{
    static long looked;
    static volatile TaskCompletionSource came = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public static void Go()
    {
        Task[] watchers = Enumerable.Range(0, Story.Trap ? 5 : 100).Select(i => Story.Sick ? Look() : Story.Healthy ? Wait() : Beat()).ToArray();
        while (Story.Goes)
        {
            Thread.Sleep(500);
            Interlocked.Exchange(ref came, new(TaskCreationOptions.RunContinuationsAsynchronously)).SetResult();
        }
        Task.WaitAll(watchers, 2000);
        Story.Say("looked", Interlocked.Read(ref looked));
    }

    static async Task Look()
    {
        while (Story.Goes)
        {
            await Task.Delay(5).ConfigureAwait(false);
            Interlocked.Add(ref Story.Sink, Story.Grind(3_000));
            Interlocked.Increment(ref looked);
        }
    }

    static async Task Wait()
    {
        while (Story.Goes)
        {
            await came.Task.ConfigureAwait(false);
            Interlocked.Increment(ref looked);
        }
    }

    // Five beats, one a second each.
    static async Task Beat()
    {
        while (Story.Goes)
        {
            await Task.Delay(1000).ConfigureAwait(false);
            Interlocked.Increment(ref looked);
        }
    }
}

// Asynchronous loops wait for one place of a semaphore: no stack shows it.
static class Bakery
{
    static readonly SemaphoreSlim oven = new(Story.Healthy ? 12 : 1), bell = new(0);
    static readonly Total waited = new(), idle = new();
    static long baked;

    public static void Go()
    {
        Task[] bakers = Enumerable.Range(0, Story.Trap ? 3 : 12).Select(i => Story.Trap ? Answer() : Bake()).ToArray();
        while (Story.Goes)
        {
            Thread.Sleep(250);
            if (Story.Trap)
                bell.Release();
        }
        bell.Release(3);
        Task.WaitAll(bakers);
        waited.Say("waited");
        idle.Say("idle");
        Story.Say("baked", baked);
    }

    static async Task Bake()
    {
        while (Story.Goes)
        {
            double before = Story.Time;
            await oven.WaitAsync().ConfigureAwait(false);
            waited.Add(Story.Time - before);
            await Task.Delay(30).ConfigureAwait(false);
            baked++;
            oven.Release();
            await Task.Delay(10).ConfigureAwait(false);
        }
    }

    // Waits for a bell that rings four times a second, as it should.
    static async Task Answer()
    {
        while (Story.Goes)
        {
            double before = Story.Time;
            await bell.WaitAsync().ConfigureAwait(false);
            idle.Add(Story.Time - before);
            Interlocked.Increment(ref baked);
        }
    }
}

// Awaits for every byte.
static class Letters
{
    static long awaits;
    static double spent;

    public static void Go()
    {
        if (Story.Trap)
            ReadReady().GetAwaiter().GetResult();
        else
            Read(Story.Sick ? 1 : 20_000).GetAwaiter().GetResult();
        Story.Say("awaits", awaits);
        Story.Say("process_cpu_without_start_s", Cpu.OfProcess - spent);
    }

    static async Task Read(int pieces)
    {
        spent = Cpu.OfProcess;
        while (Story.Goes)
        {
            for (int i = 0; i < 20_000 / pieces; i++)
                Story.Sink += await NextPiece(pieces).ConfigureAwait(false);
            if (Story.Healthy)
                await Task.Delay(10).ConfigureAwait(false);
        }
    }

    static async Task<long> NextPiece(int bytes)
    {
        await Task.Yield();
        awaits++;
        return Story.Grind(bytes * 5);
    }

    // Awaits as often, but what it awaits is there already: nothing is suspended.
    static async Task ReadReady()
    {
        spent = Cpu.OfProcess;
        while (Story.Goes)
        {
            for (int i = 0; i < 5_000; i++)
                Story.Sink += await ReadyPiece();
            await Task.Delay(10);
        }
    }

    static ValueTask<long> ReadyPiece() => new(1);
}

// A task for every word: hundreds of thousands wait in the queue.
static class Postings
{
    static long longest, done;
    static readonly Total queued = new();

    public static void Go()
    {
        if (Story.Sick)
            while (Story.Goes)
            {
                SubmitAll();
                longest = Math.Max(longest, ThreadPool.PendingWorkItemCount);
                while (ThreadPool.PendingWorkItemCount > 1000 && Story.Goes)
                    Thread.Sleep(20);
            }
        else if (Story.Healthy)
            while (Story.Goes)
            {
                Task.WaitAll(Task.Run(() => Many(50_000)), Task.Run(() => Many(50_000)));
                longest = Math.Max(longest, ThreadPool.PendingWorkItemCount);
                Thread.Sleep(200);
            }
        else
        {
            // Few tasks, each of them long.
            Task[] tasks = Enumerable.Range(0, 2).Select(i => Task.Factory.StartNew(() => { while (Story.Goes) Many(10_000); }, TaskCreationOptions.LongRunning)).ToArray();
            Task.WaitAll(tasks);
        }
        Story.Say("longest_queue", longest);
        Story.Say("done", Interlocked.Read(ref done));
        queued.Say("queued");
    }

    [MethodImpl(NoInlining)]
    static void SubmitAll()
    {
        for (int i = 0; i < 100_000; i++)
        {
            if (i % 1000 == 0)
            {
                longest = Math.Max(longest, ThreadPool.PendingWorkItemCount);
                double put = Story.Time;
                Task.Run(() => { queued.Add(Story.Time - put); Word(); });
            }
            else
                Task.Run(Word);
        }
    }

    static void Many(int count) { for (int i = 0; i < count; i++) Word(); }

    [MethodImpl(NoInlining)]
    static void Word()
    {
        Interlocked.Add(ref Story.Sink, Story.Grind(2_000));
        Interlocked.Increment(ref done);
    }
}
