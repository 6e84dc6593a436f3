using System; using System.Collections.Generic; using System.Diagnostics; using System.Linq; using System.Threading;
namespace Weaving;
public static class Mill {
  public static void Run(string variant) {
    long waited = 0, rounds = 0;
    using var barrier = new Barrier(variant == "trap" ? 5 : 4, _ => rounds++);
    using var stop = new CancellationTokenSource();
    var weavers = Enumerable.Range(0, 4).Select(strip => new Thread(() => Weave(barrier, strip, variant, ref waited, stop.Token)) { Name = "weaver " + strip }).ToList();
    weavers.ForEach(one => one.Start());
    if (variant == "trap") while (Shift.Open) { Thread.Sleep(100); barrier.SignalAndWait(); } // a cloth is ordered ten times a second
    else while (Shift.Open) Thread.Sleep(250);
    stop.Cancel(); weavers.ForEach(one => one.Join());
    Truth.Add("barrier_waited_ns", waited * 1e9 / Stopwatch.Frequency); Truth.Add("rounds", rounds);
  }
  static void Weave(Barrier barrier, int strip, string variant, ref long waited, CancellationToken stop) {
    try {
      while (true) {
        if (variant == "sick" && strip == 2) FetchYarn(60); else FetchYarn(variant == "sick" ? 2 : variant == "trap" ? 5 : 16);
        long t = Stopwatch.GetTimestamp();
        try { barrier.SignalAndWait(stop); } finally { Interlocked.Add(ref waited, Stopwatch.GetTimestamp() - t); }
      }
    } catch (OperationCanceledException) { }
  }
  static void FetchYarn(int milliseconds) => Thread.Sleep(milliseconds); // from the store
}
