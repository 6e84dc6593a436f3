// What threads do to each other with locks.
using System;
using System.Diagnostics;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;

public static class Locks
{
    static Truth Told { get { return Ailments.Told; } }

    // --- threads that wait for each other in a ring, until the end
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Transfer(object first, object second, CountdownEvent all, int hold)
    {
        lock (first)
        {
            if (all != null) { all.Signal(); all.Wait(); }
            Thread.Sleep(hold);
            Interlocked.Exchange(ref began, Stopwatch.GetTimestamp());
            lock (second) Thread.Sleep(hold);
        }
    }
    static long began;

    public static void Deadlock(int n)
    {
        Told.Culprit = "Locks.Transfer";
        var gates = Enumerable.Range(0, n).Select(i => new object()).ToArray(); var all = new CountdownEvent(n);
        Thread.Sleep(300);
        var ts = Enumerable.Range(0, n).Select(k => new Thread(() =>
        {
            if (Ailments.Sick) Transfer(gates[k], gates[(k + 1) % n], all, 20);
            // The same locks, always the lower one first; in the trap, held for long.
            else if (Ailments.Trap) Transfer(gates[0], gates[1], null, 350);
            else for (int i = 0; i < 10; i++) { Transfer(gates[Math.Min(k, (k + 1) % n)], gates[Math.Max(k, (k + 1) % n)], null, 1); Thread.Sleep(30); }
        }) { IsBackground = true, Name = "transfer" + k }).ToArray();
        foreach (var t in ts) t.Start();
        while (Ailments.Goes) Thread.Sleep(50);
        if (Ailments.Sick) { Told.Count = n; Told.Ns = n * (Stopwatch.GetTimestamp() - Interlocked.Read(ref began)) * 1e9 / Stopwatch.Frequency; }
    }

    // --- many threads, one lock
    static readonly object[] gates = Enumerable.Range(0, 8).Select(i => new object()).ToArray();
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Update(object gate)
    {
        long asked = Stopwatch.GetTimestamp();
        lock (gate) { Told.AddTicks(Stopwatch.GetTimestamp() - asked); Thread.Sleep(2); }
    }
    static object single;
    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Single() { lock (gates[0]) { if (single == null) { Thread.Sleep(80); single = new object(); } return single; } }

    public static void Convoy()
    {
        Told.Culprit = "Locks.Update";
        var ts = Enumerable.Range(0, 8).Select(k => new Thread(() =>
        {
            if (Ailments.Trap) Single();
            while (Ailments.Goes) { if (Ailments.Sick) Update(gates[0]); else Update(gates[k]); if (!Ailments.Sick) Thread.Sleep(14); }
        }) { Name = "update" + k }).ToArray();
        foreach (var t in ts) t.Start(); foreach (var t in ts) t.Join();
        if (Ailments.Sick) Told.Ns = Told.TicksNs;
    }

    // --- one that holds a lock for long
    static readonly object store = new object();
    [MethodImpl(MethodImplOptions.NoInlining)] static void Save(bool inside) { if (inside) lock (store) Thread.Sleep(250); else { Thread.Sleep(250); lock (store) { } } }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Read() { long asked = Stopwatch.GetTimestamp(); lock (store) Told.AddTicks(Stopwatch.GetTimestamp() - asked); }

    public static void Hold()
    {
        Told.Culprit = "Locks.Save";
        var saver = new Thread(() => { while (Ailments.Goes) { Save(Ailments.Mode != "healthy"); Thread.Sleep(60); } }) { Name = "saver" };
        var reader = new Thread(() => { while (Ailments.Goes) { if (!Ailments.Trap) Read(); Thread.Sleep(20); } }) { Name = "reader" };
        saver.Start(); reader.Start(); saver.Join(); reader.Join();
        if (Ailments.Sick) { Told.Ns = Told.TicksNs; }
    }
}
