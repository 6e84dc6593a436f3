using System; using System.Collections.Generic; using System.Linq; using System.Threading;
namespace Telemetry;
public sealed class Beat { public long At; public string Device = ""; public double[] Values = Array.Empty<double>(); }
public sealed class SlidingWindow {
  readonly Queue<Beat> _recent = new(); readonly int _limit; public double Sum; public SlidingWindow(int limit) => _limit = limit;
  public void Remember(Beat b) { _recent.Enqueue(b); Sum += b.Values[0]; while (_recent.Count > _limit) Sum -= _recent.Dequeue().Values[0]; }
}
public sealed class SensorFeed { int _n;
  public Beat Next() { _n++; return new Beat { At = _n, Device = Label(_n), Values = Measure(_n) }; }
  static string Label(int n) => string.Concat("device-", (n % 5000).ToString());
  static double[] Measure(int n) { var v = new double[6]; for (int i = 0; i < 6; i++) v[i] = Math.Sqrt(n + i); return v; } }
public static class Station {
  static List<Beat>? _archive;
  public static void Run(string variant) {
    var feed = new SensorFeed(); var window = new SlidingWindow(variant == "sick" ? 500_000 : 200); long beats = 0;
    if (variant == "trap") { _archive = new(100_000); for (int i = 0; i < 100_000; i++) _archive.Add(feed.Next()); }
    while (Shift.Open) { for (int i = 0; i < 500; i++) { window.Remember(feed.Next()); beats++; } while (beats > Shift.Now * 800_000) Thread.Sleep(1); }
    Truth.Add("beats", beats); Truth.Add("sum", window.Sum); Truth.Add("archive", _archive?.Count ?? 0);
  }
}
