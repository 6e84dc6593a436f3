// What is allocated needlessly: boxes, text in pieces, closures, and one place that makes most of it.
using System;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

public static class Allocations
{
    static Truth Told { get { return Ailments.Told; } }
    public static object Kept;
    public static readonly object[] Slots = new object[1000];

    // --- boxes
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void BoxAll(int n) { for (int i = 0; i < n; i++) Slots[i % 1000] = i; Told.AddBytes(24L * n); Told.Add(n); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long SumAll(int n) { long s = 0; for (int i = 0; i < n; i++) s += i; return s; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Arrays(int n) { for (int i = 0; i < n; i++) Slots[i % 1000] = i % 2 == 0 ? (object)new int[240] : new Guid[60]; }

    public static void Boxing()
    {
        Told.Culprit = "Allocations.BoxAll";
        while (Ailments.Goes) { if (Ailments.Sick) BoxAll(40000); else if (Ailments.Trap) Arrays(1000); else SumAll(40000); Thread.Sleep(8); }
        Told.Bytes = Told.SumBytes;
    }

    // --- text in pieces
    static readonly string[] words = { "alpha ", "beta ", "gamma ", "delta " };
    static long TextBytes(int length) { return (22 + 2L * length + 7) / 8 * 8; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Render(int n) { string s = ""; for (int i = 0; i < n; i++) { s += words[i % 4]; Told.AddBytes(TextBytes(s.Length)); } Kept = s; }
    static readonly StringBuilder builder = new StringBuilder(4000);
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Append(int n) { builder.Length = 0; for (int i = 0; i < n; i++) builder.Append(words[i % 4]); }
    static readonly char[] line = new string('x', 400).ToCharArray();
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Lines(int n) { for (int i = 0; i < n; i++) Slots[i] = new string(line); }

    public static void Strings()
    {
        Told.Culprit = "Allocations.Render";
        while (Ailments.Goes) { for (int i = 0; i < 3; i++) if (Ailments.Sick) Render(250); else if (Ailments.Trap) Lines(400); else Append(250); Thread.Sleep(8); }
        Told.Bytes = Told.SumBytes;
    }

    // --- closures
    static int hits;
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Ask(Func<int, bool> f) { if (f(7)) hits++; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Pick(int most) { Func<int, bool> f = x => x > most; Ask(f); }
    static readonly Func<int, bool> always = x => x > 3;
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void PickOnce(int n) { Func<int, bool> f = x => x > n; for (int i = 0; i < n; i++) Ask(f); }

    public static void Closures()
    {
        Told.Culprit = "Allocations.Pick";
        while (Ailments.Goes)
        {
            if (Ailments.Sick) { for (int i = 0; i < 12000; i++) Pick(i); Told.AddBytes(12000L * (24 + 64)); }
            else if (Ailments.Trap) { PickOnce(100000); Spread(400); }
            else for (int i = 0; i < 12000; i++) Ask(always);
            Thread.Sleep(8);
        }
        Told.Bytes = Told.SumBytes;
    }

    // --- one place
    [MethodImpl(MethodImplOptions.NoInlining)] static void MakeReport(int n) { for (int i = 0; i < n; i++) Kept = new byte[1000]; Told.AddBytes(1024L * n); }
    [MethodImpl(MethodImplOptions.NoInlining)] static object P0() { return new byte[1000]; }
    [MethodImpl(MethodImplOptions.NoInlining)] static object P1() { return new int[250]; }
    [MethodImpl(MethodImplOptions.NoInlining)] static object P2() { return new long[125]; }
    [MethodImpl(MethodImplOptions.NoInlining)] static object P3() { return new object[125]; }
    [MethodImpl(MethodImplOptions.NoInlining)] static object P4() { return new double[125]; }
    [MethodImpl(MethodImplOptions.NoInlining)] static object P5() { return new short[500]; }
    [MethodImpl(MethodImplOptions.NoInlining)] static object P6() { return new uint[250]; }
    [MethodImpl(MethodImplOptions.NoInlining)] static object P7() { return new ulong[125]; }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Spread(int n)
    {
        for (int i = 0; i < n; i++) { Kept = P0(); Kept = P1(); Kept = P2(); Kept = P3(); Kept = P4(); Kept = P5(); Kept = P6(); Kept = P7(); }
    }
    // The same through one helper, which is not to blame.
    [MethodImpl(MethodImplOptions.NoInlining)] static byte[] NewBuffer() { return new byte[1000]; }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Q0() { Kept = NewBuffer(); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Q1() { Kept = NewBuffer(); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Q2() { Kept = NewBuffer(); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Q3() { Kept = NewBuffer(); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Q4() { Kept = NewBuffer(); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Q5() { Kept = NewBuffer(); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Q6() { Kept = NewBuffer(); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Q7() { Kept = NewBuffer(); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Through(int n) { for (int i = 0; i < n; i++) { Q0(); Q1(); Q2(); Q3(); Q4(); Q5(); Q6(); Q7(); } }

    public static void Site()
    {
        Told.Culprit = "Allocations.MakeReport"; int times = Ailments.Again ? 12 : 1;
        while (Ailments.Goes) { if (Ailments.Sick) { MakeReport(700 * times); Spread(20 * times); } else if (Ailments.Trap) Through(100 * times); else Spread(100 * times); Thread.Sleep(8); }
        Told.Bytes = Told.SumBytes;
    }
}
