using System; using System.Collections.Generic; using System.Diagnostics; using System.Linq; using System.Threading; using System.Threading.Tasks;
namespace Dispatch;
public sealed class RouteClient {
  public long BlockedTicks; public int Blocks;
  public async Task<int> FetchAsync(int stop) { await Task.Delay(220).ConfigureAwait(false); return stop * 31 % 977; }
  public int Fetch(int stop) {
    long t = Stopwatch.GetTimestamp(); int r = FetchAsync(stop).GetAwaiter().GetResult();
    Interlocked.Add(ref BlockedTicks, Stopwatch.GetTimestamp() - t); Interlocked.Increment(ref Blocks); return r;
  }
}
public sealed class TourPlanner {
  readonly RouteClient _c; public TourPlanner(RouteClient c) => _c = c;
  public int Plan(int order) => Best(_c.Fetch(order), _c.Fetch(order + 1));
  public async Task<int> PlanAsync(int order) => Best(await _c.FetchAsync(order), await _c.FetchAsync(order + 1));
  static int Best(int a, int b) => Math.Min(a, b);
}
public static class Desk {
  static long _delay; static int _done, _open;
  public static async Task RunAsync(string variant) {
    var client = new RouteClient(); var planner = new TourPlanner(client); int order = 0;
    if (variant == "trap") {
      var vans = Enumerable.Range(0, 10).Select(i => new Thread(() => { while (Shift.Open) { planner.Plan(i); Interlocked.Increment(ref _done); } }) { Name = "van" + i }).ToList();
      vans.ForEach(v => v.Start()); vans.ForEach(v => v.Join());
    } else {
      var bell = new Thread(() => { while (Shift.Open) { int o = order++; long t = Stopwatch.GetTimestamp(); Interlocked.Increment(ref _open);
        if (variant == "sick") ThreadPool.QueueUserWorkItem(_ => Accept(planner, o, t)); else _ = Task.Run(() => AcceptAsync(planner, o, t)); Thread.Sleep(15); } });
      bell.Start(); bell.Join();
      while (Volatile.Read(ref _open) > 0 && Shift.Now < Shift.Seconds + 2) if (variant == "sick") Thread.Sleep(20); else await Task.Delay(20);
    }
    Truth.Add("blocked_ns", client.BlockedTicks * (1e9 / Stopwatch.Frequency)); Truth.Add("blocks", client.Blocks); Truth.Add("queue_delay_ns", _delay * (1e9 / Stopwatch.Frequency)); Truth.Add("done", _done); Truth.Add("pool_threads", ThreadPool.ThreadCount);
  }
  static void Accept(TourPlanner p, int o, long t) { Interlocked.Add(ref _delay, Stopwatch.GetTimestamp() - t); p.Plan(o); Interlocked.Increment(ref _done); Interlocked.Decrement(ref _open); }
  static async Task AcceptAsync(TourPlanner p, int o, long t) { Interlocked.Add(ref _delay, Stopwatch.GetTimestamp() - t); await p.PlanAsync(o); Interlocked.Increment(ref _done); Interlocked.Decrement(ref _open); }
}
