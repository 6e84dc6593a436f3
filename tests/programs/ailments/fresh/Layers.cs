using System; using System.Collections.Generic; using System.Diagnostics; using System.Threading;
namespace Archive;
public sealed class StoreException : Exception { public StoreException(string text, Exception? inner = null) : base(text, inner) { } }
/// <summary>Each layer wraps what the one below throws: a document that is not there costs six exceptions.</summary>
public static class Vault {
  static readonly Dictionary<int, string> Papers = new() { [1] = "deed", [2] = "will" };
  public static string Open(int number) { if (!Papers.TryGetValue(number, out var paper)) { Truth.Add("thrown", 1); throw new StoreException("no paper " + number); } return paper; }
  public static bool TryOpen(int number, out string? paper) => Papers.TryGetValue(number, out paper);
}
public static class Shelf {
  public static string Fetch(int number, int depth) {
    if (depth == 0) return Vault.Open(number);
    try { return Fetch(number, depth - 1); } catch (StoreException e) { Truth.Add("thrown", 1); throw new StoreException("layer " + depth, e); }
  }
}
public static class ReadingRoom {
  public static void Run(string variant) {
    double cpu = Truth.ThreadCpuNs(), failing = 0; int served = 0, missing = 0;
    // The trap looks for 20 papers at first, and then knows what there is.
    for (int i = 0; variant == "trap" && i < 20; i++) { double t = Truth.ThreadCpuNs(); missing += Read(100 + i) ? 0 : 1; failing += Truth.ThreadCpuNs() - t; }
    while (Shift.Open) {
      double t = Truth.ThreadCpuNs();
      for (int i = 0; i < 120; i++, served++) if (!(variant == "sick" ? Read(i) : Vault.TryOpen(i, out _))) missing++;
      failing += Truth.ThreadCpuNs() - t; Thread.Sleep(5);
    }
    Truth.Add("failing_cpu_ns", failing); Truth.Add("reading_cpu_ns", Truth.ThreadCpuNs() - cpu); Truth.Add("served", served); Truth.Add("missing", missing);
  }
  static bool Read(int number) { try { return Shelf.Fetch(number, 5).Length > 0; } catch (StoreException) { return false; } }
}
