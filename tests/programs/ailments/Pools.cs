// What workers of the pool do instead of working: wait for tasks, sleep, and leave a long queue.
using System;
using System.Diagnostics;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

public static class Pools
{
    static Truth Told { get { return Ailments.Told; } }

    static async Task<int> Slow(int ms) { await Task.Delay(ms); await Task.Yield(); return ms; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Fetch(int ms)
    {
        var clock = Stopwatch.StartNew();
        int got = Slow(ms).Result;
        Told.AddTicks(clock.ElapsedTicks); Told.Add(); return got;
    }
    static async Task<int> FetchAsync(int ms) { return await Slow(ms); }

    // --- no worker is left
    public static void Starved()
    {
        Told.Culprit = "Pools.Fetch";
        ThreadPool.SetMinThreads(2, 2);
        Thread.Sleep(500);
        int calls = Ailments.PausedNs() == null ? 10 : 20;  // newer pools give way to those that block
        var tasks = Enumerable.Range(0, calls).Select(i => Ailments.Sick ? Task.Run(() => Fetch(100)) : Ailments.Trap ? Task.Run(() => (int)Ailments.Burn(150)) : Task.Run(() => FetchAsync(100))).ToArray();
        Task.WaitAll(tasks);
        while (Ailments.Goes) Thread.Sleep(50);
        Told.Count = Told.Sum; if (Ailments.Sick) Told.Facts["blocked_ns"] = Told.TicksNs;
    }

    // --- workers wait for tasks, and there are enough of them
    public static void SyncOverAsync()
    {
        Told.Culprit = "Pools.Fetch";
        ThreadPool.SetMinThreads(16, 16);
        var done = Task.FromResult(1);
        if (Ailments.Trap)
        {
            var own = new Thread(() => { while (Ailments.Goes) Fetch(40); }) { Name = "own" }; own.Start();
            var work = Task.Run(async () => { int n = 0; while (Ailments.Goes) { for (int i = 0; i < 1000; i++) n += Completed(done); await Task.Delay(20); } return n; });
            own.Join(); work.Wait(); return;
        }
        var all = Enumerable.Range(0, 5).Select(i => Ailments.Sick ? Task.Run(() => { while (Ailments.Goes) { Fetch(40); Ailments.Burn(1); } }) : Task.Run(async () => { while (Ailments.Goes) { await FetchAsync(40); Ailments.Burn(1); } })).ToArray();
        Task.WaitAll(all);
        if (Ailments.Sick) { Told.Ns = Told.TicksNs; Told.Count = Told.Sum; }
    }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Completed(Task<int> t) { return t.Result; }

    // --- workers sleep
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Poll() { var clock = Stopwatch.StartNew(); Thread.Sleep(60); Told.AddTicks(clock.ElapsedTicks); Told.Add(); }

    public static void Sleeping()
    {
        Told.Culprit = "Pools.Poll";
        ThreadPool.SetMinThreads(16, 16);
        if (Ailments.Trap)
        {
            var own = Enumerable.Range(0, 4).Select(i => new Thread(() => { while (Ailments.Goes) Poll(); }) { Name = "own" + i }).ToArray();
            foreach (var t in own) t.Start();
            while (Ailments.Goes) { ThreadPool.QueueUserWorkItem(_ => Ailments.Burn(0.3)); Thread.Sleep(10); }
            foreach (var t in own) t.Join();
            return;
        }
        var all = Enumerable.Range(0, 4).Select(i => Ailments.Sick ? Task.Run(() => { while (Ailments.Goes) Poll(); }) : Task.Run(async () => { while (Ailments.Goes) await Task.Delay(60); })).ToArray();
        Task.WaitAll(all);
        if (Ailments.Sick) { Told.Ns = Told.TicksNs; Told.Count = Told.Sum; }
    }

    // --- a long queue
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Handle(long asked, double ms) { Told.AddTicks(Stopwatch.GetTimestamp() - asked); Told.Add(); if (Ailments.Again) Thread.Sleep(20); else Ailments.Burn(ms); }

    public static void Queue()
    {
        Told.Culprit = "Pools.Handle";
        ThreadPool.SetMinThreads(2, 2);
        var gate = new SemaphoreSlim(2); int left = 0;
        if (Ailments.Trap)
        {
            var all = Enumerable.Range(0, 300).Select(async i => { await gate.WaitAsync(); await Task.Delay(10); gate.Release(); }).ToArray();
            Task.WaitAll(all); while (Ailments.Goes) Thread.Sleep(50); return;
        }
        while (Ailments.Goes)
        {
            int n = Ailments.Sick ? 300 : 2; left = n; var over = new ManualResetEventSlim();
            for (int i = 0; i < n; i++) { long asked = Stopwatch.GetTimestamp(); Action work = () => { Handle(asked, Ailments.Sick ? 3 : 0.5); if (Interlocked.Decrement(ref left) == 0) over.Set(); }; if (Ailments.Again) Task.Run(work); else ThreadPool.QueueUserWorkItem(_ => work()); }
            over.Wait(); Thread.Sleep(20);
        }
        if (Ailments.Sick) { Told.Ns = Told.TicksNs; Told.Count = Told.Sum; }
    }
}
