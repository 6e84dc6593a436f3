using System; using System.Collections.Generic; using System.Diagnostics; using System.Linq; using System.Threading; using System.Threading.Tasks;
namespace Freight;
public sealed class WeightField {
  public static int Read(string text) => int.Parse(text.AsSpan(2), System.Globalization.NumberStyles.Integer, null);
  public static int? ReadOrNone(string text) => int.TryParse(text.AsSpan(2), out int g) ? g : null;
}
public sealed class LabelScanner {
  public async ValueTask<int> ScanAsync(string text) { if (text.Length % 97 == 96) await Task.Yield(); return Weigh(text); }
  static int Weigh(string text) => WeightField.Read(text) + 40;
}
public sealed class Intake {
  public int Rejected, Accepted; public long ThrowTicks; readonly LabelScanner _scanner = new();
  public async Task<int> AcceptAsync(string label) {
    long t = Stopwatch.GetTimestamp();
    try { int g = await _scanner.ScanAsync(label); Accepted++; return g; }
    catch (FormatException) { ThrowTicks += Stopwatch.GetTimestamp() - t; Rejected++; return 0; }
  }
  public Task<int> AcceptCheckedAsync(string label) { var g = WeightField.ReadOrNone(label); if (g is null) { Rejected++; return Task.FromResult(0); } Accepted++; return Task.FromResult(g.Value + 40); }
}
public sealed class CarrierLink { public int Retries; int _n;
  public async Task BookAsync() { await Task.Delay(300); if (++_n % 2 == 0) throw new TimeoutException("carrier did not answer"); }
  public async Task KeepBookingAsync() { while (Shift.Open) { try { await BookAsync(); } catch (TimeoutException) { Retries++; } } } }
public static class Depot {
  public static async Task RunAsync(string variant) {
    var intake = new Intake(); var link = new CarrierLink(); var r = new Random(5); long sum = 0; var booking = variant == "trap" ? link.KeepBookingAsync() : Task.CompletedTask;
    while (Shift.Open) {
      for (int i = 0; i < 40; i++) { string label = r.Next(3) == 0 ? "w:n/a" : "w:" + r.Next(30000); sum += variant == "sick" ? await intake.AcceptAsync(label) : await intake.AcceptCheckedAsync(label); }
      await Task.Delay(1);
    }
    await booking;
    Truth.Add("exceptions", variant == "sick" ? intake.Rejected : link.Retries); Truth.Add("throwing_ns", intake.ThrowTicks * (1e9 / Stopwatch.Frequency)); Truth.Add("accepted", intake.Accepted);
  }
}
