// What makes collections cost: asked for, too much alive, too long, large objects, finalizers, leaks, pins, holes, limits.
using System;
using System.Buffers;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

public sealed class Node { public Node Next; public object Tag; public long A, B; }

public static class Collections
{
    static Truth Told { get { return Ailments.Told; } }
    public static object Kept, Other;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Node Chain(int n) { Node head = null; for (int i = 0; i < n; i++) head = new Node { Next = head, A = i }; return head; }

    // Garbage that dies at once, about `kilobytes` of it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Litter(int kilobytes) { for (int i = 0; i < kilobytes; i++) Other = new byte[1000]; }

    // --- asked for
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Refresh()
    {
        var clock = Stopwatch.StartNew();
        GC.Collect();
        Told.AddTicks(clock.ElapsedTicks); Told.Add();
    }

    public static void Induced()
    {
        Kept = Chain(200000);
        Told.Culprit = "Collections.Refresh";
        if (Ailments.Trap) Refresh();  // once, when the data of the start are dropped
        while (Ailments.Goes)
        {
            Litter(5000); Thread.Sleep(150);
            if (Ailments.Sick) Refresh();
        }
        Told.Ns = Told.TicksNs; Told.Count = Told.Sum; GC.KeepAlive(Kept);
    }

    // --- full and blocking, on a large heap
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Trim(bool blocking)
    {
        var clock = Stopwatch.StartNew();
        GC.Collect(2, GCCollectionMode.Forced, blocking);
        Told.AddTicks(clock.ElapsedTicks); Told.Add();
    }

    public static void Full()
    {
        Ailments.Seconds += 1;
        Told.Culprit = "Collections.Trim";
        Kept = Chain(3000000);
        while (Ailments.Goes)
        {
            Litter(2000); Thread.Sleep(300);
            if (Ailments.Sick) Trim(true);
            if (Ailments.Trap) Trim(false);
        }
        Told.Ns = Told.TicksNs; Told.Count = Told.Sum; GC.KeepAlive(Kept);
    }

    // --- many survivors
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Grow(Node[] ring, ref int at, int n)
    {
        for (int i = 0; i < n; i++) { ring[at] = new Node { Next = ring[(at + 7919) % ring.Length], A = i }; ring[at].Next = null; at = (at + 1) % ring.Length; }
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Drop(int n) { for (int i = 0; i < n; i++) Other = new Node { A = i }; }
    struct Plain { public object Tag; public long A, B, C; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fill(Plain[] ring, ref int at, int n) { for (int i = 0; i < n; i++) { ring[at].A = i; at = (at + 1) % ring.Length; } }

    public static void Pauses()
    {
        Told.Culprit = "Collections.Grow";
        int at = 0; long made = 0;
        var ring = Ailments.Sick ? new Node[600000] : null; var plain = Ailments.Sick || Ailments.Trap ? null : new Plain[600000];
        while (Ailments.Goes)
        {
            if (Ailments.Sick) Grow(ring, ref at, 50000); else if (Ailments.Trap) Drop(50000); else Fill(plain, ref at, 50000);
            made += 50000; Thread.Sleep(5);
        }
        Told.Facts["nodes"] = made; Told.Ns = Ailments.PausedNs();
    }

    // --- pauses that are long, each: a large graph, and no background collections (see the settings)
    static double before, longest, longOnes;
    // How long it was stopped since the last look: at most one collection happens in between.
    static void Look()
    {
        double now = Ailments.PausedNs() ?? 0, pause = now - before; before = now;
        if (pause > longest) longest = pause;
        if (pause >= 200e6) longOnes += pause;
    }
    public static void LongPause()
    {
        Ailments.Seconds += 2;
        Told.Culprit = "Collections.Chain";
        if (Ailments.Mode == "healthy") Kept = new Plain[7000000];
        else { var parts = new Node[100]; for (int i = 0; i < parts.Length; i++) { parts[i] = Chain(100000); Look(); } Kept = parts; }
        while (Ailments.Goes)
        {
            if (Ailments.Mode == "healthy") Litter(3000);
            else { var parts = (Node[])Kept; parts[(int)(Ailments.Clock.ElapsedMilliseconds / 7 % parts.Length)] = Chain(100000); }
            Look(); Thread.Sleep(20);
        }
        if (Ailments.PausedNs() != null) { Told.Facts["longest_pause_ns"] = longest; Told.Facts["pauses_over_200ms_ns"] = longOnes; if (Ailments.Sick) Told.Ns = longOnes; }
        GC.KeepAlive(Kept);
    }

    // --- large objects
    [MethodImpl(MethodImplOptions.NoInlining)]
    static byte[] ReadWhole(int n) { var read = new byte[n]; read[n - 1] = 1; Told.AddBytes(n + 24); Told.Add(); return read; }

    public static void Large()
    {
        Told.Culprit = "Collections.ReadWhole";
        if (Ailments.Trap) { var once = new List<byte[]>(); for (int i = 0; i < 60; i++) once.Add(ReadWhole(1000000)); Kept = once; }
        int k = 0;
        while (Ailments.Goes)
        {
            for (int i = 0; i < 4; i++, k++)
            {
                int n = 150000 + k % 50 * 2000;
                if (Ailments.Sick) Other = ReadWhole(n);
                else if (!Ailments.Trap) { var b = ArrayPool<byte>.Shared.Rent(n); b[n - 1] = 1; ArrayPool<byte>.Shared.Return(b); }
            }
            Litter(100); Thread.Sleep(8);
        }
        Told.Bytes = Told.SumBytes; Told.Count = Told.Sum; GC.KeepAlive(Kept);
    }

    // --- finalizers
    sealed class Handle : IDisposable
    {
        public byte[] Data = new byte[4000];
        readonly bool dear;
        public Handle(bool dear) { this.dear = dear; }
        public void Dispose() { GC.SuppressFinalize(this); }
        ~Handle() { var clock = Stopwatch.StartNew(); if (dear) Ailments.Burn(0.05); Told.AddTicks(clock.ElapsedTicks); Told.Add(); }
    }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Open() { Other = new Handle(true); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void OpenAndClose() { using (var h = new Handle(true)) Other = h; }
    [MethodImpl(MethodImplOptions.NoInlining)] static void OpenCheap() { Other = new Handle(false); }

    public static void Finalizers()
    {
        Told.Culprit = "Handle";
        if (Ailments.Trap) for (int i = 0; i < 40; i++) OpenCheap();
        while (Ailments.Goes)
        {
            for (int i = 0; i < 40; i++) if (Ailments.Sick) Open(); else if (Ailments.Trap) Other = new byte[4000]; else OpenAndClose();
            Litter(200); Thread.Sleep(8);
        }
        Told.Ns = Told.TicksNs; Told.Count = Told.Sum;
    }

    // --- a leak
    static readonly Queue<byte[]> remembered = new Queue<byte[]>();
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Remember(int most)
    {
        remembered.Enqueue(new byte[2000]); Told.AddBytes(2024);
        if (remembered.Count > most) { remembered.Dequeue(); Told.AddBytes(-2024); }
    }

    public static void Growth()
    {
        Ailments.Seconds += 2;
        Told.Culprit = "Collections.Remember";
        int most = Ailments.Sick ? int.MaxValue : Ailments.Trap ? 40000 : 5000;
        while (Ailments.Goes) { for (int i = 0; i < 500; i++) Remember(most); Litter(500); Thread.Sleep(8); }
        Told.Bytes = Told.SumBytes; GC.KeepAlive(remembered);
    }

    // --- pins
    [MethodImpl(MethodImplOptions.NoInlining)]
    static GCHandle Pin(int n) { return GCHandle.Alloc(new byte[n], GCHandleType.Pinned); }

    public static void Pinned()
    {
        Told.Culprit = "Collections.Pin";
        var ring = new GCHandle[2000]; var plain = new byte[2000][]; int at = 0;
        if (Ailments.Trap) for (int i = 0; i < 20; i++) ring[i] = Pin(1000);
        while (Ailments.Goes)
        {
            for (int i = 0; i < 200; i++, at = (at + 1) % 2000)
            {
                if (Ailments.Sick) { if (ring[at].IsAllocated) ring[at].Free(); ring[at] = Pin(1000); Told.Add(); } else plain[at] = new byte[1000];
                Litter(5);
            }
            Thread.Sleep(8);
        }
        Told.Count = Told.Sum; GC.KeepAlive(plain);
    }

    // --- holes between large objects that stay
    public static void Fragmented()
    {
        Told.Culprit = "Collections.Interleave";
        Interleave(); Other = null;
        while (Ailments.Goes) { for (int i = 0; i < (Ailments.Again ? 50 : 1); i++) Other = new byte[100000]; Litter(500); Thread.Sleep(10); }
        Told.Bytes = Told.SumBytes; GC.KeepAlive(Kept);
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Interleave()
    {
        var stay = new List<byte[]>(); var go = new List<byte[]>();
        int n = Ailments.Trap ? 12 : 250;
        if (Ailments.Mode == "healthy")
        {
            for (int i = 0; i < n; i++) { go.Add(new byte[1500000]); }
            go = null;
            for (int i = 0; i < n; i++) stay.Add(new byte[100000]);
        }
        else for (int i = 0; i < n; i++) { stay.Add(new byte[100000]); go.Add(new byte[1500000]); Told.AddBytes(1500024); }
        Kept = stay; GC.KeepAlive(go);
    }

    // --- a heap close to its limit (256 MiB, see the settings)
    public static void Memory()
    {
        int chunks = Ailments.Sick ? 3000 : Ailments.Trap ? 1750 : 600;
        var all = new List<byte[]>(4000); Kept = all;
        for (int i = 0; i < chunks; i++) all.Add(new byte[80000]);
        Told.Bytes = chunks * 80024.0;
        while (Ailments.Goes) { for (int i = 0; i < 20; i++) all[i] = new byte[80000]; Litter(20); Thread.Sleep(20); }
        GC.KeepAlive(all);
    }

    // --- threads that collections wait for: a copy of references that does not stop (.NET Core 3.1; later ones stop in it)
    public static void Suspend()
    {
        Told.Culprit = "Collections.Copy";
        int n = Ailments.Again ? 40000000 : 8000000; var from = new object[n]; var to = new object[n];
        for (int i = 0; i < from.Length; i += 16) from[i] = Told;
        var t = new Thread(() => { while (Ailments.Goes) { if (Ailments.Sick) Copy(from, to, from.Length); else if (Ailments.Trap) for (int i = 0; i < 2000; i++) Copy(from, to, 2000); Thread.Sleep(1); } }) { Name = "copier", IsBackground = true };
        t.Start();
        while (Ailments.Goes) { Litter(2000); Thread.Sleep(10); }
        t.Join(); GC.KeepAlive(to);
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Copy(object[] from, object[] to, int n) { Array.Copy(from, 0, to, 0, n); }
}
