// Awaits that always suspend, each told by an event afterwards: Awaits BUSY IDLE, in seconds. Two chains of awaits run
// for BUSY seconds from its first line of input on, and then the program does nothing for IDLE seconds.
using System;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

[EventSource(Name = "Clrevents-Awaits")]
public sealed class Told : EventSource
{
    public static readonly Told Log = new Told();
    [Event(1)]
    public void Resumed(int chain, int number) => WriteEvent(1, chain, number);
}

public static class Awaits
{
    static async Task<int> Step(int chain, int number)
    {
        await Task.Yield();
        Told.Log.Resumed(chain, number);
        var clock = Stopwatch.StartNew();
        while (clock.Elapsed.TotalMilliseconds < 1) { }
        return number;
    }

    static async Task Chain(int chain, double seconds)
    {
        var clock = Stopwatch.StartNew();
        for (int number = 0; clock.Elapsed.TotalSeconds < seconds; number++) await Step(chain, number);
    }

    public static void Main(string[] arguments)
    {
        double busy = double.Parse(arguments[0]), idle = double.Parse(arguments[1]);
        Console.ReadLine();
        Task.WaitAll(Chain(0, busy), Chain(1, busy));
        Thread.Sleep(TimeSpan.FromSeconds(idle));
    }
}
