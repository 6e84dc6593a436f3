// A program with something for every report, until its time is over or it is told to end: Busy SECONDS [STORY].
// STORY: quiet (one event in 100 ms and nothing else), loud (as many events as it can), work (computes and allocates, as
// much as it can, and tells how many turns it made), crash (ends badly after SECONDS), exit (ends with 7), and busy
// (garbage, exceptions, a lock that is fought for, some work), which is what it does without one.
using System;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Threading;

[EventSource(Name = "Clrevents-Busy")]
public sealed class Log : EventSource
{
    public static readonly Log It = new Log();
    [Event(1)] public void Tick(long number, long unixMicroseconds) => WriteEvent(1, number, unixMicroseconds);
    [Event(2)] public void Loud(int number, string text) => WriteEvent(2, number, text);
}

public static class Busy
{
    static readonly object gate = new object();
    static volatile bool done;

    static long Now() => (DateTime.UtcNow - new DateTime(1970, 1, 1)).Ticks / 10;

    static void Fight() { while (!done) { lock (gate) Thread.Sleep(3); } }

    static int Burn(int times) { int x = 1; for (int i = 0; i < times; i++) x = x * 31 + i; return x; }

    static void Work(int n)
    {
        try { throw new InvalidOperationException("number " + n); } catch (InvalidOperationException) { }
        var garbage = new byte[20][];
        for (int i = 0; i < 20; i++) garbage[i] = new byte[4000 + n % 100];
        if (n % 20 == 0) GC.Collect(n % 60 == 0 ? 2 : 0);
        Burn(200000);
        GC.KeepAlive(garbage);
    }

    public static int Main(string[] a)
    {
        double seconds = double.Parse(a[0], System.Globalization.CultureInfo.InvariantCulture);
        string story = a.Length > 1 ? a[1] : "busy";
        var clock = Stopwatch.StartNew();
        if (story == "busy") for (int i = 0; i < 2; i++) new Thread(Fight) { IsBackground = true, Name = "fighter" }.Start();
        int n = 0;
        long ended = 0;
        while (clock.Elapsed.TotalSeconds < seconds)
        {
            if (story == "loud") { for (int i = 0; i < 1000; i++) Log.It.Loud(n++, "a text that makes the event longer than nothing"); continue; }
            if (story == "work") { var kept = new byte[2000]; Burn(20000); GC.KeepAlive(kept); n++; continue; }
            Log.It.Tick(n++, Now());
            if (story == "busy") { Work(n); Thread.Sleep(5); }
            else Thread.Sleep(100);
        }
        done = true;
        ended = n;
        if (story == "crash") Environment.FailFast("as asked");
        Console.WriteLine(ended);
        return story == "exit" ? 7 : 0;
    }
}
