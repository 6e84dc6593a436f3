// Small programs, each with one ailment, its healthy twin, or a trap that only looks like it: FAMILY VARIANT SECONDS.
// At its end the program prints, as one line of JSON, what it knows of itself: the numbers by which a diagnosis is judged.
global using System;
global using System.Collections;
global using System.Collections.Concurrent;
global using System.Collections.Generic;
global using System.Diagnostics;
global using System.Globalization;
global using System.IO;
global using System.Linq;
global using System.Net;
global using System.Net.Sockets;
global using System.Runtime.CompilerServices;
global using System.Runtime.InteropServices;
global using System.Text;
global using System.Text.RegularExpressions;
global using System.Threading;
global using System.Threading.Tasks;
global using static System.Runtime.CompilerServices.MethodImplOptions;

static class Story
{
    static readonly Stopwatch clock = Stopwatch.StartNew();
    static readonly SortedDictionary<string, double> numbers = new();
    static string variant = "", family = "";
    public static long Sink;
    static object? last;

    public static double Seconds { get; private set; }
    public static bool Sick => variant == "sick";
    public static bool Healthy => variant == "healthy";
    public static bool Trap => variant == "trap";
    public static double Time => clock.Elapsed.TotalSeconds;
    public static bool Goes => Time < Seconds;

    static int Main(string[] arguments)
    {
        (family, variant, Seconds) = (arguments[0], arguments[1], double.Parse(arguments[2], CultureInfo.InvariantCulture));
        if (!Families.All.TryGetValue(family, out Action? go) || !(Sick || Healthy || Trap))
        {
            Console.Error.WriteLine("families: " + string.Join(" ", Families.All.Keys));
            return 2;
        }
        go();
        Tell();
        return 0;
    }

    public static void Say(string name, double value) { lock (numbers) numbers[name] = value; }

    public static void Tell()
    {
        Say("seconds", Time);
        Say("process_cpu_s", Cpu.OfProcess);
        if (Environment.CurrentManagedThreadId == 1)
            Say("main_cpu_s", Cpu.OfThread);
        Say("gen0", GC.CollectionCount(0));
        Say("gen1", GC.CollectionCount(1));
        Say("gen2", GC.CollectionCount(2));
        Say("gc_pause_s", GC.GetTotalPauseDuration().TotalSeconds);
        Say("allocated_bytes", GC.GetTotalAllocatedBytes());
        Say("heap_bytes", GC.GetTotalMemory(false));
        Say("jit_methods", System.Runtime.JitInfo.GetCompiledMethodCount());
        Say("jit_s", System.Runtime.JitInfo.GetCompilationTime().TotalSeconds);
        Say("contentions", Monitor.LockContentionCount);
        GC.KeepAlive(last);
        Say("pool_threads", ThreadPool.ThreadCount);
        string listed;
        lock (numbers)
            listed = string.Join(", ", numbers.Select(n => $"\"{n.Key}\": {n.Value.ToString("R", CultureInfo.InvariantCulture)}"));
        string runtime = Environment.Version.ToString();
        Console.WriteLine($"{{\"family\": \"{family}\", \"variant\": \"{variant}\", \"runtime\": \"{runtime}\", \"numbers\": {{{listed}}}}}");
        Console.Out.Flush();
    }

    public static Thread Start(ThreadStart body, string name = "")
    {
        Thread thread = new(body) { IsBackground = true, Name = name };
        thread.Start();
        return thread;
    }

    public static void Together(int count, ThreadStart body)
    {
        Thread[] threads = Enumerable.Range(0, count).Select(i => Start(body, $"worker {i}")).ToArray();
        foreach (Thread thread in threads)
            thread.Join();
    }

    // Whatever is given here is allocated on the heap indeed, and dies when the next one comes.
    [MethodImpl(NoInlining)]
    public static void Use(object thing) => last = thing;

    // About a nanosecond of processor time a round.
    [MethodImpl(NoInlining | AggressiveOptimization)]
    public static long Grind(int rounds)
    {
        long x = rounds;
        for (int i = 0; i < rounds; i++)
            x = x * 31 + i;
        return x;
    }

    // What a program does besides, at leisure, until its time is over.
    public static void Idle()
    {
        while (Goes)
        {
            Sink += Grind(200_000);
            Thread.Sleep(25);
        }
    }
}

static class Cpu
{
    struct Timespec { public long Seconds, Nanoseconds; }

    // Read once a millisecond or so at most: samplers find threads in such calls more often than they are there.
    [DllImport("libc")] static extern int clock_gettime(int clock, out Timespec time);

    static double Read(int clock) { clock_gettime(clock, out Timespec t); return t.Seconds + t.Nanoseconds / 1e9; }

    public static double OfThread => Read(3);
    public static double OfProcess => Read(2);
}

// Seconds that several threads add up.
sealed class Total
{
    readonly object gate = new();
    double sum, most;
    long count;

    public void Add(double seconds)
    {
        lock (gate)
        {
            sum += seconds;
            count++;
            most = Math.Max(most, seconds);
        }
    }

    public void Say(string name)
    {
        Story.Say(name + "_s", sum);
        Story.Say(name + "_count", count);
        Story.Say(name + "_longest_s", most);
    }
}

static class Families
{
    public static readonly SortedDictionary<string, Action> All = new()
    {
        ["pictures"] = Pictures.Go, ["offers"] = Offers.Go, ["basket"] = Basket.Go, ["starter"] = Starter.Go, ["seats"] = Seats.Go,
        ["folders"] = Folders.Go, ["forecast"] = Forecast.Go, ["journal"] = Journal.Go, ["money"] = Money.Go,
        ["warehouse"] = Warehouse.Go, ["turnstile"] = Turnstile.Go, ["catalogue"] = Catalogue.Go, ["mailbox"] = Mailbox.Go,
        ["sessions"] = Sessions.Go, ["mailer"] = Mailer.Go, ["transfer"] = Transfer.Go, ["delivery"] = Delivery.Go,
        ["tally"] = Tally.Go, ["ledger"] = Ledger.Go, ["crawler"] = Crawler.Go, ["archive"] = Archive.Go,
        ["converter"] = Converter.Go, ["quotes"] = Quotes.Go,
        ["profile"] = Profile.Go, ["thumbnails"] = Thumbnails.Go, ["letters"] = Letters.Go, ["postings"] = Postings.Go,
        ["watchers"] = Watchers.Go, ["bakery"] = Bakery.Go, ["requests"] = Requests.Go,
        ["audit"] = Audit.Go, ["screens"] = Screens.Go, ["frames"] = Frames.Go, ["exports"] = Exports.Go, ["sockets"] = Sockets.Go,
        ["tempfiles"] = TempFiles.Go, ["window"] = Window.Go, ["cleanup"] = Cleanup.Go, ["poem"] = Poem.Go, ["measures"] = Measures.Go,
        ["finder"] = Finder.Go,
        ["import"] = Import.Go, ["rules"] = Rules.Go, ["handlers"] = Handlers.Go, ["mapper"] = Mapper.Go, ["patterns"] = Patterns.Go,
    };
}
