// The second set, written without the rules at hand. What a workshop's threads do to each other.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

// --- settings read from a slow place, under the lock that each reader needs
public sealed class Vault
{
    static readonly Vault instance = new Vault();
    readonly object gate = new object(), counters = new object();
    readonly Queue<int> jobs = new Queue<int>();
    int setting; public static long Counted;

    [MethodImpl(MethodImplOptions.NoInlining)] int Fetch() { Thread.Sleep(45); return setting + 1; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    void Reload() { if (Ailments.Sick) lock (gate) setting = Fetch(); else { int got = Fetch(); lock (gate) setting = got; } }
    [MethodImpl(MethodImplOptions.NoInlining)]
    int Get() { long asked = Stopwatch.GetTimestamp(); lock (gate) { Ailments.Told.AddTicks(Stopwatch.GetTimestamp() - asked); return setting; } }
    // Taken very often, by one thread only.
    [MethodImpl(MethodImplOptions.NoInlining)]
    void Count() { for (int i = 0; i < 20000; i++) lock (counters) Counted++; }
    // Waits inside the lock, which it lets go meanwhile.
    [MethodImpl(MethodImplOptions.NoInlining)]
    int Take() { lock (jobs) { while (jobs.Count == 0) Monitor.Wait(jobs); return jobs.Dequeue(); } }
    [MethodImpl(MethodImplOptions.NoInlining)]
    void Give() { lock (jobs) { jobs.Enqueue(1); Monitor.Pulse(jobs); } }

    public static void Run()
    {
        Ailments.Told.Culprit = "Vault.Reload";
        var v = instance; var ts = new List<Thread>();
        ts.Add(new Thread(() => { while (Ailments.Goes) { v.Count(); Thread.Sleep(5); } }) { Name = "counter" });
        if (Ailments.Trap)
        {
            for (int k = 0; k < 3; k++) ts.Add(new Thread(() => { while (Ailments.Goes) v.Take(); }) { Name = "taker" + k });
            ts.Add(new Thread(() => { while (Ailments.Goes) { Thread.Sleep(60); v.Give(); } for (int k = 0; k < 3; k++) v.Give(); }) { Name = "giver" });
        }
        else
        {
            for (int k = 0; k < 3; k++) ts.Add(new Thread(() => { while (Ailments.Goes) { v.Get(); Thread.Sleep(10); } }) { Name = "reader" + k });
            ts.Add(new Thread(() => { while (Ailments.Goes) { v.Reload(); Thread.Sleep(25); } }) { Name = "loader" });
        }
        foreach (var t in ts) t.Start(); foreach (var t in ts) t.Join();
        if (Ailments.Sick) Ailments.Told.Ns = Ailments.Told.TicksNs;
    }
}

// --- work for the pool that asks for a price, and waits for the answer
public static class Orders
{
    static int left; public static long Paid;
    static async Task<int> Quote(int n) { await Task.Delay(25); int basis = n % 7; await Task.Delay(15); return basis + 1; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Price(int n)
    {
        var clock = Stopwatch.StartNew();
        int price = Quote(n).GetAwaiter().GetResult();
        Ailments.Told.AddTicks(clock.ElapsedTicks); Ailments.Told.Add(); return price;
    }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Handle(int n) { Interlocked.Add(ref Paid, Price(n)); Interlocked.Decrement(ref left); }
    static async Task HandleAsync(int n) { Interlocked.Add(ref Paid, await Quote(n)); Interlocked.Decrement(ref left); }
    // All have come when it reads them.
    static async Task HandleMany(int n) { var all = new[] { Quote(n), Quote(n + 1), Quote(n + 2) }; await Task.WhenAll(all); foreach (var one in all) Interlocked.Add(ref Paid, one.Result); }

    public static void Run()
    {
        Ailments.Told.Culprit = "Orders.Price";
        ThreadPool.SetMinThreads(16, 16);
        Task own = null;
        if (Ailments.Trap) own = Task.Factory.StartNew(() => { while (Ailments.Goes) Price(1); }, TaskCreationOptions.LongRunning);  // a thread of its own
        for (int n = 0; Ailments.Goes; n++)
        {
            int order = n;
            if (Ailments.Trap) { var _ = HandleMany(order); }
            else for (int k = 0; k < 3; k++)
            {
                Interlocked.Increment(ref left);
                if (Ailments.Sick) ThreadPool.QueueUserWorkItem(_ => Handle(order)); else Task.Run(() => HandleAsync(order));
            }
            Thread.Sleep(30);
        }
        if (own != null) own.Wait();
        while (Volatile.Read(ref left) > 0) Thread.Sleep(5);
        if (Ailments.Sick) { Ailments.Told.Ns = Ailments.Told.TicksNs; Ailments.Told.Count = Ailments.Told.Sum; }
    }
}

// --- a timer whose calls wait for the device
public static class Meter
{
    static Timer timer; public static long Readings;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Sample(object _)
    {
        if (!Ailments.Goes) return;
        var clock = Stopwatch.StartNew(); Thread.Sleep(100);
        Ailments.Told.AddTicks(clock.ElapsedTicks); Ailments.Told.Add(); Interlocked.Increment(ref Readings);
    }
    // Asks, and comes back when the device has had its time.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Ask(object _) { if (Ailments.Goes) new Timer(Come, null, 100, Timeout.Infinite); }
    static void Come(object _) { Interlocked.Increment(ref Readings); }
    // Four times as often, and each lets others go first.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Glance(object _) { Ailments.Burn(0.2); Thread.Sleep(0); Interlocked.Increment(ref Readings); }

    public static void Run()
    {
        Ailments.Told.Culprit = "Meter.Sample";
        ThreadPool.SetMinThreads(16, 16);
        var own = new Thread(() => { while (Ailments.Goes) Sample(null); }) { Name = "device" };
        timer = new Timer(Ailments.Sick ? Sample : Ailments.Trap ? (TimerCallback)Glance : Ask, null, 0, Ailments.Trap ? 5 : 20);
        if (Ailments.Trap) { own.Start(); own.Join(); }
        while (Ailments.Goes) Thread.Sleep(50);
        timer.Dispose(); Thread.Sleep(150);
        if (Ailments.Sick) { Ailments.Told.Ns = Ailments.Told.TicksNs; Ailments.Told.Count = Ailments.Told.Sum; }
    }
}

// --- two parts that call each other, each under its own lock
public sealed class Stock
{
    public static readonly Stock One = new Stock(); public int Left = 1000;
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Reserve(CountdownEvent both) { lock (this) { Left--; Invoices.Meet(both); Invoices.One.Add(); } }
    [MethodImpl(MethodImplOptions.NoInlining)] public void Release() { lock (this) Left++; }
    // Counts what is there, and none may take meanwhile.
    [MethodImpl(MethodImplOptions.NoInlining)] public void Inventory() { lock (this) while (Ailments.Goes) Thread.Sleep(40); }
}

public sealed class Invoices
{
    public static readonly Invoices One = new Invoices(); int open; static long met;
    public static void Meet(CountdownEvent both) { if (both == null) return; both.Signal(); both.Wait(); Interlocked.Exchange(ref met, Stopwatch.GetTimestamp()); }
    [MethodImpl(MethodImplOptions.NoInlining)] public void Add() { lock (this) open++; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Cancel(CountdownEvent both) { lock (this) { open--; Meet(both); Stock.One.Release(); } }
    // The same work, in the order of the other.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void CancelInOrder() { lock (Stock.One) lock (this) { open--; Stock.One.Left++; } }

    public static void Run()
    {
        Ailments.Told.Culprit = "Stock.Reserve";
        var both = new CountdownEvent(2);
        Action sell = () => { for (int i = 0; Ailments.Goes; i++) { Stock.One.Reserve(Ailments.Sick && i == 40 ? both : null); Thread.Sleep(10); } };
        Action undo = () => { for (int i = 0; Ailments.Goes; i++) { if (Ailments.Sick && i >= 40) One.Cancel(i == 40 ? both : null); else One.CancelInOrder(); Thread.Sleep(10); } };
        var ts = new[] { new Thread(() => sell()) { Name = "sell" }, new Thread(() => undo()) { Name = "undo" }, new Thread(() => { Thread.Sleep(400); Stock.One.Inventory(); }) { Name = "inventory" } };
        foreach (var t in ts.Take(Ailments.Trap ? 3 : 2)) { t.IsBackground = true; t.Start(); }
        while (Ailments.Goes) Thread.Sleep(50);
        if (Ailments.Sick) { Ailments.Told.Count = 2; Ailments.Told.Ns = 2 * (Stopwatch.GetTimestamp() - Interlocked.Read(ref met)) * 1e9 / Stopwatch.Frequency; }
    }
}

// --- deliveries that block workers until a receipt comes, which needs a worker
public static class Relay
{
    static int done, begun;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Deliver()
    {
        Interlocked.Increment(ref begun);
        var receipt = new ManualResetEventSlim(); var clock = Stopwatch.StartNew();
        ThreadPool.QueueUserWorkItem(_ => Receive(receipt));
        receipt.Wait();
        Ailments.Told.AddTicks(clock.ElapsedTicks); Ailments.Told.Add(); Interlocked.Increment(ref done);
    }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Receive(ManualResetEventSlim receipt) { Ailments.Burn(1); receipt.Set(); }
    static async Task DeliverAsync() { await Task.Run(() => { Ailments.Burn(1); }); Interlocked.Increment(ref done); }

    public static void Run()
    {
        Ailments.Told.Culprit = "Relay.Deliver";
        // In the trap, there is always a worker for the receipts.
        ThreadPool.SetMinThreads(Ailments.Trap ? 24 : 2, 2);
        Thread.Sleep(300);
        for (int i = 0; i < 9; i++) if (Ailments.Mode == "healthy") Task.Run(DeliverAsync); else ThreadPool.QueueUserWorkItem(_ => Deliver());
        while (Ailments.Goes)
        {
            Thread.Sleep(100);
            if (Ailments.Trap) for (int i = 0; i < 9; i++) ThreadPool.QueueUserWorkItem(_ => Deliver());
        }
        Ailments.Told.Facts["done"] = Volatile.Read(ref done);
        if (Ailments.Sick) Ailments.Told.Facts["still_blocked"] = Volatile.Read(ref begun) - Volatile.Read(ref done);
    }
}
