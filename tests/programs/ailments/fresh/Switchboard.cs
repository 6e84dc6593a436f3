using System; using System.Collections.Generic; using System.Diagnostics; using System.Linq; using System.Threading; using System.Threading.Tasks;
namespace Telephony;
/// <summary>An extension that answers after 25 ms, from a thread of the pool.</summary>
public static class Extension {
  public static void Ring(Action answered) => Task.Delay(25).ContinueWith(_ => answered(), TaskScheduler.Default);
  public static void Ask(ref long blocked) {
    using var reply = new ManualResetEventSlim();
    Ring(reply.Set);
    long t = Stopwatch.GetTimestamp(); reply.Wait(); Interlocked.Add(ref blocked, Stopwatch.GetTimestamp() - t);
  }
  public static Task AskAsync() { var reply = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously); Ring(reply.SetResult); return reply.Task; }
}
public static class Exchange {
  static long _blocked, _queued; static int _calls;
  public static async Task RunAsync(string variant) {
    // The trap's operators wait in the same way, but on threads of their own.
    var operators = Enumerable.Range(0, variant == "trap" ? 8 : 0).Select(i => new Thread(() => { while (Shift.Open) { Extension.Ask(ref _blocked); Interlocked.Increment(ref _calls); Thread.Sleep(15); } }) { Name = "operator " + i }).ToList();
    operators.ForEach(one => one.Start());
    var open = new List<Task>();
    while (Shift.Open) {
      if (variant != "trap") for (int i = 0; i < 3; i++) { long t = Stopwatch.GetTimestamp(); open.Add(variant == "sick" ? Task.Run(() => Connect(t)) : Task.Run(() => ConnectAsync(t))); }
      await Task.Delay(15);
    }
    await Task.WhenAll(open); operators.ForEach(one => one.Join());
    double f = 1e9 / Stopwatch.Frequency; Truth.Add("blocked_ns", _blocked * f); Truth.Add("queued_ns", _queued * f); Truth.Add("calls", _calls);
  }
  static void Connect(long asked) { Interlocked.Add(ref _queued, Stopwatch.GetTimestamp() - asked); Extension.Ask(ref _blocked); Interlocked.Increment(ref _calls); }
  static async Task ConnectAsync(long asked) { Interlocked.Add(ref _queued, Stopwatch.GetTimestamp() - asked); await Extension.AskAsync(); Interlocked.Increment(ref _calls); }
}
