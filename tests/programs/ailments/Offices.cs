// The second set, written without the rules at hand. What an office computes: figures, notes, series, screens.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using System.Threading;

// --- a reader of records that keeps numbers as objects
public static class Ledger
{
    sealed class Money { public double Amount; public Money(double amount) { Amount = amount; } }
    struct Entry { public long Account; public double Amount; public DateTime Day; }

    static readonly char[] line = "40017;1284;638".ToCharArray();
    static readonly Dictionary<string, object> fields = new Dictionary<string, object>();
    static readonly Entry[] entries = new Entry[64];
    public static double Total;

    static long Number(ref int at) { long n = 0; while (at < line.Length && line[at] != ';') n = n * 10 + line[at++] - '0'; at++; return n; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Parse()
    {
        int at = 0;
        fields["account"] = Number(ref at); fields["amount"] = Number(ref at) / 4.0; fields["day"] = new DateTime(Number(ref at));
        Total += (double)fields["amount"]; Ailments.Told.AddBytes(3 * 24); Ailments.Told.Add(3);
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ParseTyped(int i)
    {
        int at = 0;
        entries[i % 64] = new Entry { Account = Number(ref at), Amount = Number(ref at) / 4.0, Day = new DateTime(Number(ref at)) };
        Total += entries[i % 64].Amount;
    }
    // As many objects, and of a class.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ParseMoney()
    {
        int at = 0;
        fields["account"] = new Money(Number(ref at)); fields["amount"] = new Money(Number(ref at) / 4.0); fields["day"] = new Money(Number(ref at));
        Total += ((Money)fields["amount"]).Amount;
    }

    public static void Run()
    {
        Ailments.Told.Culprit = "Ledger.Parse";
        while (Ailments.Goes)
        {
            for (int i = 0; i < 12000; i++) if (Ailments.Sick) Parse(); else if (Ailments.Trap) ParseMoney(); else ParseTyped(i);
            Thread.Sleep(6);
        }
        Ailments.Told.Bytes = Ailments.Told.SumBytes; Ailments.Told.Count = Ailments.Told.Sum;
    }
}

// --- notes for nobody: each is put together, then not written, as the level is off
public static class Journal
{
    public static int Level = 2, Written;
    public static object Last;
    static long Size(string s) { return (22 + 2L * s.Length + 7) / 8 * 8; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Debug(int order, string state)
    {
        string number = order.ToString(), note = "order " + number + " is now " + state + ", as asked by the customer";
        Ailments.Told.AddBytes(Size(number) + Size(note)); Ailments.Told.Add();
        if (Level > 3) Written++;
        Last = note;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DebugIf(int order, string state) { if (Level > 3) { Last = "order " + order + " is now " + state; Written++; } }
    // Bytes for the disk; one note in a hundred is text.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Pack(int order, string state) { var bytes = new byte[160]; bytes[order % 160] = 1; Last = bytes; if (order % 100 == 0) Last = "order " + order + state; }

    public static void Run()
    {
        Ailments.Told.Culprit = "Journal.Debug";
        int order = 10000;
        while (Ailments.Goes)
        {
            for (int i = 0; i < 5000; i++, order++) if (Ailments.Sick) Debug(order, "paid"); else if (Ailments.Trap) Pack(order, "paid"); else DebugIf(order, "paid");
            Thread.Sleep(6);
        }
        Ailments.Told.Bytes = Ailments.Told.SumBytes; Ailments.Told.Count = Ailments.Told.Sum;
    }
}

// --- keys that are not there, said by an exception
public static class Catalog
{
    static readonly Dictionary<string, int> prices = new Dictionary<string, int> { { "bolt", 3 }, { "nut", 2 } };
    static readonly string[] asked = { "bolt", "washer", "nut", "rivet", "clamp" };
    public static int Sum;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Find(string name) { try { return prices[name]; } catch (KeyNotFoundException) { Ailments.Told.Add(); return 0; } }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Look(string name) { int price; return prices.TryGetValue(name, out price) ? price : 0; }
    // A supplier that fails now and then; each layer lets it pass.
    [MethodImpl(MethodImplOptions.NoInlining)] static int Call() { throw new TimeoutException("supplier"); }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Layer() { try { return Call(); } catch (TimeoutException) { Ailments.Told.Add(); throw; } }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Supplier() { try { return Layer(); } catch (TimeoutException) { Ailments.Told.Add(); return 0; } }

    public static void Run()
    {
        Ailments.Told.Culprit = "Catalog.Find";
        for (int round = 1; Ailments.Goes; round++)
        {
            foreach (string name in asked) Sum += Ailments.Sick ? Find(name) : Look(name);
            if (Ailments.Trap && round % 25 == 0) Sum += Supplier();
            Thread.Sleep(10);
        }
        Ailments.Told.Count = Ailments.Told.Sum;
    }
}

// --- lists that grow by doubling until their arrays are large
public static class Series
{
    static readonly List<long> reused = new List<long>();
    static readonly object[] kept = new object[30];
    public static long Sum;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Gather(List<long> into, int n)
    {
        for (int i = 0; i < n; i++)
        {
            int room = into.Capacity;
            into.Add(i);
            if (Ailments.Sick && into.Capacity != room && into.Capacity * 8 + 24 >= 85000) { Ailments.Told.AddBytes(into.Capacity * 8L + 24); Ailments.Told.Add(); }
        }
        Sum += into.Count;
    }

    public static void Run()
    {
        Ailments.Told.Culprit = "Series.Gather";
        if (Ailments.Trap) for (int i = 0; i < kept.Length; i++) kept[i] = new long[20000];  // made once
        while (Ailments.Goes)
        {
            if (Ailments.Sick) Gather(new List<long>(), 150000);
            else if (Ailments.Trap) for (int i = 0; i < 15; i++) Gather(new List<long>(10000), 10000);
            else { reused.Clear(); Gather(reused, 150000); }
            Thread.Sleep(4);
        }
        if (Ailments.Sick) { Ailments.Told.Bytes = Ailments.Told.SumBytes; Ailments.Told.Count = Ailments.Told.Sum; }
        GC.KeepAlive(kept);
    }
}

// --- a pattern compiled again for each text
public static class Filter
{
    static readonly Regex once = new Regex("^[a-c]+-\\d{2,4}(x|yy)$");
    public static int Hits;

    // How many methods this thread has compiled; null on older runtimes.
    static long? Compiled()
    {
        var info = typeof(GC).Assembly.GetType("System.Runtime.JitInfo");
        return info == null ? (long?)null : (long)info.GetMethod("GetCompiledMethodCount").Invoke(null, new object[] { true });
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Matches(string text, int n) { return new Regex("^[a-c]+-\\d{2," + (3 + n % 5) + "}(x|yy)$", RegexOptions.Compiled).IsMatch(text); }
    // Made anew as well, and interpreted: there is nothing to compile.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Interprets(string text, int n) { return new Regex("^[a-c]+-\\d{2," + (3 + n % 5) + "}(x|yy)$").IsMatch(text); }

    public static void Run()
    {
        Ailments.Told.Culprit = "Filter.Matches";
        long? before = null;
        for (int n = 0; Ailments.Goes; n++)
        {
            if (n == 5) before = Compiled();  // what the first ones compile of the library is not counted
            if (Ailments.Sick ? Matches("abca-123yy", n) : Ailments.Trap ? Interprets("abca-123yy", n) : once.IsMatch("abca-123yy")) Hits++;
            Ailments.Told.Add(); Thread.Sleep(40);
        }
        Ailments.Told.Facts["patterns"] = Ailments.Told.Sum;
        if (Ailments.Sick && before != null) Ailments.Told.Count = (Compiled() - before) * (double)Ailments.Told.Sum / (Ailments.Told.Sum - 5);
    }
}

// --- a gauge of memory that collects to be exact
public static class Gauge
{
    static Node kept; public static object Other; public static long Shown;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Report(bool exact)
    {
        var clock = Stopwatch.StartNew(); int before = GC.CollectionCount(2);
        Shown = GC.GetTotalMemory(exact);
        Ailments.Told.AddTicks(clock.ElapsedTicks); Ailments.Told.Add(GC.CollectionCount(2) - before);
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Work() { for (int i = 0; i < 12000; i++) Other = new int[150]; }

    public static void Run()
    {
        Ailments.Told.Culprit = "Gauge.Report";
        for (int i = 0; i < 150000; i++) kept = new Node { Next = kept };
        while (Ailments.Goes) { Work(); Thread.Sleep(120); Report(Ailments.Sick); }
        if (Ailments.Trap) { for (int i = 0; i < 40; i++) Work(); Report(true); }  // once, at the end
        if (Ailments.Sick) { Ailments.Told.Ns = Ailments.Told.TicksNs; Ailments.Told.Count = Ailments.Told.Sum; }
        GC.KeepAlive(kept);
    }
}

// --- screens that are closed and still listen
public sealed class Screen
{
    static readonly List<Action> listeners = new List<Action>();
    static readonly Screen[] recent = new Screen[2000];
    static int opened;
    readonly byte[][] picture = new byte[20][];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Screen Open()
    {
        var screen = new Screen();
        for (int i = 0; i < screen.picture.Length; i++) screen.picture[i] = new byte[1000];
        listeners.Add(screen.Refresh); return screen;
    }
    void Refresh() { picture[0][0]++; }
    void Close() { if (!Ailments.Sick) listeners.RemoveAt(listeners.Count - 1); }

    public static void Run()
    {
        Ailments.Told.Culprit = "Screen.Open"; Ailments.Seconds += 1;
        while (Ailments.Goes)
        {
            for (int i = 0; i < 16; i++)
            {
                var screen = Open();
                if (Ailments.Trap) recent[opened++ % recent.Length] = screen;  // the last 2,000, full after a while
                screen.Close();
                if (Ailments.Sick) Ailments.Told.AddBytes(20 * 1024 + 184 + 24 + 64);
            }
            Thread.Sleep(5);
        }
        if (Ailments.Sick) { Ailments.Told.Bytes = Ailments.Told.SumBytes; Ailments.Told.Count = listeners.Count; }
        GC.KeepAlive(listeners);
    }
}
