using System; using System.Collections.Generic; using System.Diagnostics; using System.Linq; using System.Threading; using System.Threading.Tasks;
namespace Quotes;
public sealed class CarrierGateway {
  readonly SemaphoreSlim _slots; public long WaitedTicks; public int Calls;
  public CarrierGateway(int slots) => _slots = new(slots);
  public async Task<decimal> QuoteAsync(int weight) {
    long t = Stopwatch.GetTimestamp();
    await _slots.WaitAsync();
    Interlocked.Add(ref WaitedTicks, Stopwatch.GetTimestamp() - t);
    try { return await CallCarrierAsync(weight); } finally { _slots.Release(); }
  }
  async Task<decimal> CallCarrierAsync(int weight) { await Task.Delay(18); Interlocked.Increment(ref Calls); return weight * 0.19m + 3; }
}
public static class Shop {
  static readonly SemaphoreSlim Bell = new(0); static int _rung;
  public static async Task RunAsync(string variant) {
    var gateway = new CarrierGateway(variant == "sick" ? 2 : 24);
    int shoppers = variant == "trap" ? 6 : 24; var all = Enumerable.Range(0, shoppers).Select(i => ShopperAsync(gateway, i)).ToList();
    if (variant == "trap") { all.Add(PackerAsync()); all.Add(PackerAsync()); all.Add(OrdersAsync()); }
    await Task.WhenAll(all);
    Truth.Add("semaphore_waited_ns", gateway.WaitedTicks * (1e9 / Stopwatch.Frequency)); Truth.Add("calls", gateway.Calls); Truth.Add("rung", _rung);
  }
  static async Task ShopperAsync(CarrierGateway g, int i) { decimal sum = 0; while (Shift.Open) { sum += await BasketAsync(g, i); await Task.Delay(5); } }
  static async Task<decimal> BasketAsync(CarrierGateway g, int i) => await g.QuoteAsync(100 + i) * 1.19m;
  static async Task PackerAsync() { while (await Bell.WaitAsync(400) && Shift.Open) _rung++; }
  static async Task OrdersAsync() { while (Shift.Open) { await Task.Delay(90); Bell.Release(2); } }
}
