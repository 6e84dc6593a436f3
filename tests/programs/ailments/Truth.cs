// Programs with one ailment each, for judging what a diagnosis says: Ailments FAMILY MODE SEED FILE.
// MODE: sick (has the ailment), healthy (does the same work without it), trap (looks alike, and is fine).
// Writes to FILE, as JSON, what it knows of itself: the culprit, and the cost as it measured it itself.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;

public sealed class Truth
{
    public string Culprit;
    public double? Ns, Bytes, Count;
    public readonly Dictionary<string, double> Facts = new Dictionary<string, double>();
    long ticks, bytes, count;

    public void AddTicks(long n) { Interlocked.Add(ref ticks, n); }
    public void AddBytes(long n) { Interlocked.Add(ref bytes, n); }
    public void Add(long n = 1) { Interlocked.Add(ref count, n); }
    public double TicksNs { get { return Interlocked.Read(ref ticks) * 1e9 / Stopwatch.Frequency; } }
    public long SumBytes { get { return Interlocked.Read(ref bytes); } }
    public long Sum { get { return Interlocked.Read(ref count); } }

    static string Number(double? n) { return n == null ? "null" : n.Value.ToString("R", CultureInfo.InvariantCulture); }

    public string Json(string family, string mode, int seed)
    {
        var facts = string.Join(", ", Facts.Select(f => "\"" + f.Key + "\": " + Number(f.Value)));
        return "{\"family\": \"" + family + "\", \"mode\": \"" + mode + "\", \"seed\": " + seed
            + ", \"culprit\": " + (Culprit == null ? "null" : "\"" + Culprit + "\"") + ", \"ns\": " + Number(Ns)
            + ", \"bytes\": " + Number(Bytes) + ", \"count\": " + Number(Count) + ", \"facts\": {" + facts + "}}";
    }
}

public static class Ailments
{
    public static readonly Truth Told = new Truth();
    public static string Mode;
    public static int Seed;
    /// <summary>Families that end with 2 plant an ailment again, better: written after the first judgement.</summary>
    public static bool Again;
    public static bool Sick { get { return Mode == "sick"; } }
    public static bool Trap { get { return Mode == "trap"; } }
    public static readonly Stopwatch Clock = new Stopwatch();
    public static double Seconds = 3;

    /// <summary>Whether the program goes on: until its seconds are over.</summary>
    public static bool Goes { get { return Clock.Elapsed.TotalSeconds < Seconds; } }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long Burn(double ms)
    {
        var clock = Stopwatch.StartNew(); long x = 1;
        while (clock.Elapsed.TotalMilliseconds < ms) for (int i = 0; i < 500; i++) x = x * 31 + i;
        return x;
    }

    // What newer runtimes know of themselves, in ns; null on older ones.
    public static double? PausedNs()
    {
        var asked = typeof(GC).GetMethod("GetTotalPauseDuration");
        return asked == null ? (double?)null : ((TimeSpan)asked.Invoke(null, null)).TotalMilliseconds * 1e6;
    }
    public static double? CompiledNs()
    {
        var info = typeof(GC).Assembly.GetType("System.Runtime.JitInfo");
        var asked = info == null ? null : info.GetMethod("GetCompilationTime");
        return asked == null ? (double?)null : ((TimeSpan)asked.Invoke(null, new object[] { false })).TotalMilliseconds * 1e6;
    }

    static void Run(string family)
    {
        switch (family)
        {
            case "steady": Steady.Run(); break;
            case "induced": Collections.Induced(); break;
            case "fullgc": Collections.Full(); break;
            case "pauses": Collections.Pauses(); break;
            case "longpause": Collections.LongPause(); break;
            case "loh": Collections.Large(); break;
            case "finalizers": Collections.Finalizers(); break;
            case "growth": Collections.Growth(); break;
            case "pinned": Collections.Pinned(); break;
            case "fragmented": Collections.Fragmented(); break;
            case "memory": Collections.Memory(); break;
            case "suspend": Collections.Suspend(); break;
            case "boxing": Allocations.Boxing(); break;
            case "strings": Allocations.Strings(); break;
            case "closures": Allocations.Closures(); break;
            case "site": Allocations.Site(); break;
            case "starved": Pools.Starved(); break;
            case "syncasync": Pools.SyncOverAsync(); break;
            case "sleeping": Pools.Sleeping(); break;
            case "queue": Pools.Queue(); break;
            case "deadlock": Locks.Deadlock(2); break;
            case "deadlock3": Locks.Deadlock(3); break;
            case "convoy": Locks.Convoy(); break;
            case "hold": Locks.Hold(); break;
            case "rate": Throws.Rate(); break;
            case "control": Throws.Control(); break;
            case "jitstart": Compiles.StartUp(); break;
            case "churn": Compiles.Churn(); break;
            case "ledger": Ledger.Run(); break;
            case "journal": Journal.Run(); break;
            case "catalog": Catalog.Run(); break;
            case "series": Series.Run(); break;
            case "filter": Filter.Run(); break;
            case "gauge": Gauge.Run(); break;
            case "screens": Screen.Run(); break;
            case "vault": Vault.Run(); break;
            case "orders": Orders.Run(); break;
            case "meter": Meter.Run(); break;
            case "stock": Invoices.Run(); break;
            case "relay": Relay.Run(); break;
            default: throw new ArgumentException(family);
        }
    }

    public static int Main(string[] a)
    {
        Again = a[0].EndsWith("2"); Mode = a[1]; Seed = int.Parse(a[2]);
        Seconds = 3 + Seed % 5 * 0.1;
        if (a.Length > 4) Seconds = double.Parse(a[4], CultureInfo.InvariantCulture);
        if (a[0] != "jitstart2") Thread.Sleep(600);  // .NET Core 3.1 cannot be recorded from its very start
        Clock.Start();
        Run(a[0].TrimEnd('2'));
        Told.Facts["elapsed_ns"] = Clock.Elapsed.TotalMilliseconds * 1e6;
        for (int g = 0; g < 3; g++) Told.Facts["collections_" + g] = GC.CollectionCount(g);
        var paused = PausedNs(); if (paused != null) Told.Facts["paused_ns"] = paused.Value;
        var compiled = CompiledNs(); if (compiled != null) Told.Facts["compiled_ns"] = compiled.Value;
        File.WriteAllText(a[3], Told.Json(a[0], Mode, Seed));
        return 0;
    }
}

// Nothing is wrong with this one: a little of everything.
public static class Steady
{
    static readonly object gate = new object();
    public static object Kept;

    public static void Run()
    {
        while (Ailments.Goes)
        {
            for (int i = 0; i < 20; i++) Kept = new byte[500];
            lock (gate) Ailments.Burn(0.2);
            ThreadPool.QueueUserWorkItem(_ => Ailments.Burn(0.1));
            Thread.Sleep(10);
        }
    }
}
