using System; using System.Collections.Generic; using System.Diagnostics; using System.Linq; using System.Threading;
namespace Bookkeeping;
public sealed record Posting(int Account, decimal Amount, DateTime At);
public sealed class JournalBook {
  public readonly object Gate = new(); readonly List<Posting> _lines = new();
  public long WaitedTicks; public int Posted;
  public void Post(int account, decimal amount) {
    var p = new Posting(account, amount, DateTime.UtcNow); long t = Stopwatch.GetTimestamp();
    lock (Gate) { Interlocked.Add(ref WaitedTicks, Stopwatch.GetTimestamp() - t); Append(p); }
  }
  void Append(Posting p) { if (_lines.Count > 20000) _lines.Clear(); _lines.Add(p); Posted++; }
  public Posting[] Page(int n) => _lines.TakeLast(n).ToArray();
}
public sealed class UplinkChannel {
  public decimal Sent;
  public void Flush(Posting[] page) { foreach (var p in page) Sent += p.Amount; Thread.Sleep(70); /* the archive answers slowly */ }
}
public sealed class AuditExporter {
  readonly JournalBook _book; readonly UplinkChannel _uplink = new(); readonly string _variant; readonly object _exportGate = new(); public long HeldTicks; public int Exports;
  public AuditExporter(JournalBook b, string v) { _book = b; _variant = v; }
  public void Export() {
    Exports++;
    if (_variant == "sick") lock (_book.Gate) { long t = Stopwatch.GetTimestamp(); SendPage(_book.Page(50)); HeldTicks += Stopwatch.GetTimestamp() - t; }
    else if (_variant == "healthy") { Posting[] page; lock (_book.Gate) page = _book.Page(50); SendPage(page); }
    else lock (_exportGate) { Posting[] page; lock (_book.Gate) page = _book.Page(50); SendPage(page); }
  }
  void SendPage(Posting[] page) => _uplink.Flush(page);
}
public static class Office {
  public static void Run(string variant) {
    var book = new JournalBook(); var exporter = new AuditExporter(book, variant);
    var clerks = Enumerable.Range(0, 4).Select(i => new Thread(() => Clerk(book, i)) { Name = "clerk" + i }).ToList();
    var audit = new Thread(() => { while (Shift.Open) { exporter.Export(); Thread.Sleep(50); } }) { Name = "audit" };
    clerks.ForEach(c => c.Start()); audit.Start(); clerks.ForEach(c => c.Join()); audit.Join();
    double f = 1e9 / Stopwatch.Frequency;
    Truth.Add("lock_waited_ns", book.WaitedTicks * f); Truth.Add("lock_held_ns", exporter.HeldTicks * f); Truth.Add("posted", book.Posted); Truth.Add("exports", exporter.Exports);
  }
  static void Clerk(JournalBook book, int i) { var r = new Random(i); while (Shift.Open) { book.Post(r.Next(500), r.Next(10000) / 100m); Thread.Sleep(4); } }
}
