// A program that goes on to make what a recording has to do with, and then ends by itself: Lively SECONDS [keep].
// Each round makes a meter with instruments, an event source with a counter, a thread, a timer, a collection, and an
// assembly that is loaded and, unless it is to keep them, unloaded. Tasks come in the last quarter only: they make the
// event source for tasks, without which the first collection of metrics needs a lock
// (src/clrevents/diagnostics/side_sessions.py).
using System;
using System.Buffers;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Diagnostics.Tracing;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;
using System.Threading.Tasks;

public static class Part
{
    public static int Twice(int number) => number * 2;
}

public static class Lively
{
    static readonly object gate = new object();
    static readonly List<object> kept = new List<object>();
    static readonly Counter<long> rounds = new Meter("Lively-Rounds").CreateCounter<long>("rounds");
    static long ticks;

    static void MakeMeter(int round)
    {
        var meter = new Meter("Lively");
        meter.CreateCounter<long>("made").Add(1);
        meter.CreateHistogram<double>("time").Record(round);
        meter.CreateObservableGauge("round", () => round);
        if (round % 2 == 0) kept.Add(meter); else meter.Dispose();
        rounds.Add(1);
    }

    static void MakeSource(int round)
    {
        var source = new EventSource("Lively-Source-" + round % 5);
        kept.Add(new IncrementingEventCounter("made", source));
        source.Write("Round", new { Number = round });
        kept.Add(source);
    }

    static void MakeThreads(int round)
    {
        var threads = new Thread[2];
        for (int i = 0; i < 2; i++)
        {
            threads[i] = new Thread(() => { lock (gate) Thread.Sleep(2); });
            threads[i].Start();
        }
        foreach (var thread in threads) thread.Join();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void LoadAndUnload(int round, bool keep)
    {
        var context = new AssemblyLoadContext("part-" + round, isCollectible: true);
        var part = context.LoadFromAssemblyPath(typeof(Lively).Assembly.Location).GetType("Part");
        part.GetMethod("Twice").Invoke(null, new object[] { round });
        if (keep) kept.Add(context); else context.Unload();
    }

    static void Fail(int round)
    {
        try { throw new InvalidOperationException("round " + round); } catch (InvalidOperationException) { }
    }

    public static int Main(string[] a)
    {
        double seconds = double.Parse(a[0], System.Globalization.CultureInfo.InvariantCulture);
        // .NET 8 may hang if its own event sources are made by these just while a recording begins (docs/live.md).
        ArrayPool<char>.Shared.Return(ArrayPool<char>.Shared.Rent(16));
        kept.Add(new Timer(_ => { }, null, 1, 50));
        ThreadPool.QueueUserWorkItem(_ => { });
        Thread.Sleep(20);
        Console.WriteLine("ready");
        var clock = Stopwatch.StartNew();
        for (int round = 0; clock.Elapsed.TotalSeconds < seconds; round++)
        {
            MakeMeter(round);
            MakeSource(round);
            MakeThreads(round);
            kept.Add(new Timer(_ => Interlocked.Increment(ref ticks), null, 1, 50));
            LoadAndUnload(round, a.Length > 1);
            Fail(round);
            GC.Collect(round % 3);
            if (clock.Elapsed.TotalSeconds > seconds * 0.75) Task.Run(() => Task.Delay(1)).Wait();
            Thread.Sleep(60);
        }
        Console.WriteLine("ended");
        return 0;
    }
}
