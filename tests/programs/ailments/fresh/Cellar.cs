using System; using System.Collections.Generic; using System.Threading;
namespace Winery;
/// <summary>An order that is given up as the house closes: it has a source linked to the house's, which nobody disposes of.</summary>
public sealed class Order {
  readonly byte[] _slip = new byte[6000]; public int Bottles;
  public void GiveUp() => Bottles = 0;
  public int Fill(int bottles) { _slip[bottles] = 1; return Bottles = bottles; }
}
public static class House {
  public static readonly CancellationTokenSource Closing = new();
  public static int Serve(int bottles, bool dispose) {
    var order = new Order(); var source = CancellationTokenSource.CreateLinkedTokenSource(Closing.Token);
    source.Token.Register(order.GiveUp);
    try { return order.Fill(bottles); } finally { if (dispose) source.Dispose(); }
  }
}
public static class Cellar {
  static readonly Order?[] Recent = new Order?[6000];
  public static void Run(string variant) {
    // The trap keeps the last 6,000 orders, which it has after a quarter of the time: full, it grows no more.
    if (variant == "trap") for (int i = 0; i < Recent.Length; i++) { Recent[i] = new Order(); if (i % 60 == 59) Thread.Sleep(8); }
    int served = 0; long before = GC.GetTotalMemory(false);
    while (Shift.Open) { for (int i = 0; i < 60; i++, served++) if (variant == "trap") Recent[served % Recent.Length] = new Order(); else House.Serve(served % 100, variant == "healthy"); Thread.Sleep(12); }
    Truth.Add("leaked_bytes", GC.GetTotalMemory(false) - before); Truth.Add("served", served); GC.KeepAlive(Recent);
  }
}
