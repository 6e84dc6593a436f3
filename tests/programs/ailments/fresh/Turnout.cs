using System; using System.Collections.Concurrent; using System.Collections.Generic; using System.Diagnostics; using System.Linq; using System.Threading;
namespace Stadium;
/// <summary>Counts who is inside. ConcurrentDictionary.Count takes every one of its locks.</summary>
public sealed class Turnout {
  readonly ConcurrentDictionary<int, long> _inside = new(); int _count; public long CountingTicks; long _peak;
  public Turnout(int seats) { for (int i = 0; i < seats; i++) _inside[i] = i; _count = seats; }
  public void Enter(int guest, bool counting) {
    if (_inside.TryAdd(guest, guest)) Interlocked.Increment(ref _count);
    Gauge(counting ? Headcount() : Volatile.Read(ref _count));
    if (_inside.TryRemove(guest, out _)) Interlocked.Decrement(ref _count);
  }
  public int Headcount() {
    long t = Stopwatch.GetTimestamp(); int count = _inside.Count; Interlocked.Add(ref CountingTicks, Stopwatch.GetTimestamp() - t); return count;
  }
  void Gauge(int count) { if (count > _peak) _peak = count; }
}
public static class Gates {
  public static void Run(string variant) {
    var turnout = new Turnout(20_000); long guests = 0;
    var stewards = Enumerable.Range(0, 4).Select(gate => new Thread(() => Admit(turnout, gate, variant == "sick", ref guests)) { Name = "gate " + gate }).ToList();
    // The trap's office asks ten times a second.
    if (variant == "trap") stewards.Add(new Thread(() => { while (Shift.Open) { turnout.Headcount(); Thread.Sleep(100); } }) { Name = "office" });
    stewards.ForEach(one => one.Start()); stewards.ForEach(one => one.Join());
    Truth.Add("counting_ns", turnout.CountingTicks * 1e9 / Stopwatch.Frequency); Truth.Add("guests", guests);
  }
  static void Admit(Turnout turnout, int gate, bool counting, ref long guests) {
    double cpu = Truth.ThreadCpuNs(); int n = 0;
    while (Shift.Open) { for (int i = 0; i < 100; i++) turnout.Enter(1_000_000 * (gate + 1) + n++ % 50_000, counting); Thread.Sleep(2); }
    Interlocked.Add(ref guests, n); Truth.Add("admitting_cpu_ns", Truth.ThreadCpuNs() - cpu);
  }
}
