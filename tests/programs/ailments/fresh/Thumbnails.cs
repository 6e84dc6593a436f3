using System; using System.Buffers; using System.Collections.Generic; using System.Linq; using System.Threading; using System.Threading.Tasks;
namespace Imaging;
public static class PixelStore {
  public const int Size = 800 * 600 * 3; public static long Bytes; static readonly byte[][] Strip = new byte[24][]; static int _next;
  public static byte[] Take(string variant) {
    if (variant == "healthy") return ArrayPool<byte>.Shared.Rent(Size);
    if (variant == "trap") { int i = Interlocked.Increment(ref _next) % Strip.Length; return Strip[i] ??= Fresh(); }
    return Fresh();
  }
  static byte[] Fresh() { Interlocked.Add(ref Bytes, Size + 24); return new byte[Size]; }
  public static void Give(string variant, byte[] b) { if (variant == "healthy") ArrayPool<byte>.Shared.Return(b); }
}
public sealed class Shrinker {
  readonly string _variant; public Shrinker(string v) => _variant = v;
  public int Shrink(int seed) { var pixels = Decode(seed); try { return Sample(pixels); } finally { PixelStore.Give(_variant, pixels); } }
  byte[] Decode(int seed) { var p = PixelStore.Take(_variant); for (int i = 0; i < PixelStore.Size; i += 16) p[i] = (byte)(seed + i); return p; }
  static int Sample(byte[] p) { int s = 0; for (int i = 0; i < PixelStore.Size; i += 40) s += p[i]; return s; }
}
public static class Studio {
  static int _pictures;
  public static async Task RunAsync(string variant) {
    var s = new Shrinker(variant); await Task.WhenAll(Enumerable.Range(0, 2).Select(i => Task.Run(() => LaneAsync(s, i))));
    Truth.Add("large_bytes", PixelStore.Bytes); Truth.Add("pictures", _pictures);
  }
  static async Task LaneAsync(Shrinker s, int lane) { int n = lane; while (Shift.Open) { for (int k = 0; k < 2; k++) { s.Shrink(n++); Interlocked.Increment(ref _pictures); } await Task.Delay(5); } }
}
