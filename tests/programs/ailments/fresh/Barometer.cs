using System; using System.Collections.Generic; using System.Linq; using System.Threading;
namespace Weather;
public sealed class PressureFeed { public bool Fresh; public double Value; public readonly AutoResetEvent Signal = new(false);
  public void Publish(double v) { Value = v; Volatile.Write(ref Fresh, true); Signal.Set(); } }
public sealed class GaugeReader {
  readonly PressureFeed _feed; public double SpunNs; public int Readings; double _mean; public GaugeReader(PressureFeed f) => _feed = f;
  public void Follow(bool spin) { while (Shift.Open) { if (spin) SpinUntilFresh(); else if (!_feed.Signal.WaitOne(200)) continue; Volatile.Write(ref _feed.Fresh, false); Note(_feed.Value); } }
  void SpinUntilFresh() { double t = Truth.ThreadCpuNs(); while (!Volatile.Read(ref _feed.Fresh) && Shift.Open) Thread.SpinWait(40); SpunNs += Truth.ThreadCpuNs() - t; }
  void Note(double v) { Readings++; _mean += (v - _mean) / Readings; }
}
public sealed class StormModel { // real work until the flag says stop
  bool _stop; public long Steps; public double Wind, Rain; public void Stop() => Volatile.Write(ref _stop, true);
  public void Simulate() { var r = new Random(3); while (!Volatile.Read(ref _stop)) { Wind = Drift(Wind, r.NextDouble()); Rain = Condense(Rain, Wind); Steps++; } }
  static double Drift(double w, double d) { for (int i = 0; i < 60; i++) w = Math.Sin(w + d) + i * 0.01; return w; }
  static double Condense(double n, double w) { for (int i = 0; i < 60; i++) n = Math.Exp(-Math.Abs(n - w)) + i * 0.01; return n; }
}
public static class Tower {
  public static void Run(string variant) {
    var feed = new PressureFeed(); var reader = new GaugeReader(feed); var model = new StormModel();
    var t = new Thread(() => { if (variant == "trap") model.Simulate(); else reader.Follow(variant == "sick"); }) { Name = "reader" }; t.Start();
    while (Shift.Open) { Thread.Sleep(60); feed.Publish(1000 + Shift.Now); } model.Stop(); feed.Publish(0); t.Join();
    Truth.Add("spinning_cpu_ns", reader.SpunNs); Truth.Add("readings", reader.Readings); Truth.Add("steps", model.Steps);
  }
}
