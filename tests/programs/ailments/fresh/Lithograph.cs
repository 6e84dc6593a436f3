using System; using System.Collections.Generic; using System.Runtime.InteropServices; using System.Threading;
namespace Printing;
/// <summary>A picture outside the heap, as image libraries have it: it tells the collector how much it weighs.</summary>
public sealed class Plate : IDisposable {
  readonly long _told; readonly IntPtr _ink = Marshal.AllocHGlobal(4096);
  public Plate(long told) { _told = told; if (told > 0) GC.AddMemoryPressure(told); }
  public void Etch() { for (int i = 0; i < 4096; i++) Marshal.WriteByte(_ink, i, (byte)i); }
  public void Dispose() { if (_told > 0) GC.RemoveMemoryPressure(_told); Marshal.FreeHGlobal(_ink); GC.SuppressFinalize(this); }
  ~Plate() { if (_told > 0) GC.RemoveMemoryPressure(_told); Marshal.FreeHGlobal(_ink); }
}
public static class Workshop {
  static readonly List<string[]> Archive = new();
  public static void Run(string variant) {
    for (int i = 0; i < 60_000; i++) Archive.Add(new[] { "sheet " + i, "by hand", "run " + i % 9 });
    int before = GC.CollectionCount(2), plates = 0; double paused = GC.GetTotalPauseDuration().TotalMilliseconds;
    long told = variant == "sick" ? 64 << 20 : variant == "trap" ? 16 << 10 : 0;
    while (Shift.Open) { Print(told, variant == "sick"); plates++; Thread.Sleep(5); }
    Truth.Add("asked_gen2", GC.CollectionCount(2) - before); Truth.Add("plates", plates); Truth.Add("run_pause_ns", (GC.GetTotalPauseDuration().TotalMilliseconds - paused) * 1e6); GC.KeepAlive(Archive);
  }
  static void Print(long told, bool forget) { var plate = new Plate(told); plate.Etch(); if (!forget) plate.Dispose(); }
}
