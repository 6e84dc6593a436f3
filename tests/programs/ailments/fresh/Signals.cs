using System; using System.Collections.Generic; using System.Linq; using System.Threading; using System.Threading.Tasks;
namespace Railway;
public sealed class Section {
  volatile TaskCompletionSource _freed = new(TaskCreationOptions.RunContinuationsAsynchronously); volatile bool _free; public static int Looks;
  public void Occupy() { _free = false; _freed = new(TaskCreationOptions.RunContinuationsAsynchronously); }
  public void Clear() { _free = true; _freed.TrySetResult(); }
  public async Task UntilClearAsync(int milliseconds) {
    if (milliseconds == 0) { await _freed.Task; return; }
    while (!_free) { Interlocked.Increment(ref Looks); await Task.Delay(milliseconds); }
  }
}
public static class Signals {
  public static async Task RunAsync(string variant) {
    int trains = variant == "trap" ? 4 : 900, pause = variant == "sick" ? 1 : variant == "trap" ? 200 : 0, runs = 0;
    while (Shift.Open) {
      var sections = Enumerable.Range(0, trains).Select(_ => new Section()).ToList();
      var waiting = sections.Select(one => one.UntilClearAsync(pause)).ToList();
      await Task.Delay(700);
      sections.ForEach(one => one.Clear()); await Task.WhenAll(waiting); runs += trains;
    }
    Truth.Add("looks", Section.Looks); Truth.Add("trains", runs);
  }
}
