using System; using System.Collections.Generic; using System.Diagnostics; using System.Linq; using System.Threading;
namespace Maps;
public sealed class PlaceIndex {
  readonly ReaderWriterLockSlim _guard = new(); Dictionary<int, string> _places = new(); public long WaitedTicks, HeldTicks; public int Reads, Rebuilds;
  public string Lookup(int id) {
    long t = Stopwatch.GetTimestamp(); _guard.EnterReadLock(); Interlocked.Add(ref WaitedTicks, Stopwatch.GetTimestamp() - t);
    try { Interlocked.Increment(ref Reads); return _places.TryGetValue(id, out var s) ? s : ""; } finally { _guard.ExitReadLock(); }
  }
  public void Reload(bool inside) {
    if (inside) { _guard.EnterWriteLock(); long t = Stopwatch.GetTimestamp(); try { _places = ImportTiles(); } finally { HeldTicks += Stopwatch.GetTimestamp() - t; _guard.ExitWriteLock(); } }
    else { var fresh = ImportTiles(); _guard.EnterWriteLock(); try { _places = fresh; } finally { _guard.ExitWriteLock(); } }
    Rebuilds++;
  }
  Dictionary<int, string> ImportTiles() { var d = new Dictionary<int, string>(); for (int tile = 0; tile < 6; tile++) ReadTile(d, tile); return d; }
  static void ReadTile(Dictionary<int, string> d, int tile) { for (int i = 0; i < 500; i++) d[tile * 500 + i] = "place " + i; Thread.Sleep(20); /* disk */ }
}
public static class Service {
  public static void Run(string variant) {
    var index = new PlaceIndex(); if (variant == "trap") for (int i = 0; i < 4; i++) index.Reload(true); // warm, before anybody asks
    var askers = Enumerable.Range(0, 4).Select(i => new Thread(() => Ask(index, i)) { Name = "asker" + i }).ToList();
    var refresher = new Thread(() => { while (Shift.Open) { Thread.Sleep(130); if (variant == "trap") index.Lookup(7); else index.Reload(variant == "sick"); } }) { Name = "refresher" };
    askers.ForEach(c => c.Start()); refresher.Start(); askers.ForEach(c => c.Join()); refresher.Join();
    double f = 1e9 / Stopwatch.Frequency; Truth.Add("readers_waited_ns", index.WaitedTicks * f); Truth.Add("writer_held_ns", index.HeldTicks * f); Truth.Add("reads", index.Reads); Truth.Add("rebuilds", index.Rebuilds);
  }
  static void Ask(PlaceIndex index, int i) { var r = new Random(i); int n = 0; while (Shift.Open) { for (int k = 0; k < 20; k++) n += index.Lookup(r.Next(3000)).Length; Thread.Sleep(3); } }
}
