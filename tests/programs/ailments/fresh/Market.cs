using System; using System.Collections.Generic; using System.Diagnostics; using System.IO; using System.Linq; using System.Net; using System.Net.Sockets; using System.Threading;
namespace Trade;
/// <summary>The price list of another process, which answers each line after 4 ms.</summary>
public static class PriceServer {
  public static int Serve() {
    var listener = new TcpListener(IPAddress.Loopback, 0); listener.Start(); Console.WriteLine(((IPEndPoint)listener.LocalEndpoint).Port); Console.Out.Flush();
    while (true) { var client = listener.AcceptTcpClient(); new Thread(() => Answer(client)) { IsBackground = true }.Start(); }
  }
  static void Answer(TcpClient client) {
    client.NoDelay = true; using var reader = new StreamReader(client.GetStream()); using var writer = new StreamWriter(client.GetStream()) { AutoFlush = true };
    try { while (reader.ReadLine() is { } asked) { Thread.Sleep(asked == "next change" ? 60_000 : 4); writer.WriteLine(string.Join(';', asked.Split(';').Select(one => one.Length * 3))); } } catch (IOException) { }
    Environment.Exit(0); // whose client leaves, leaves
  }
}
public sealed class PriceClient {
  readonly StreamReader _reader; readonly StreamWriter _writer; public long WaitedTicks; public int Asked;
  public PriceClient(int port) { var client = new TcpClient("127.0.0.1", port) { NoDelay = true }; _reader = new(client.GetStream()); _writer = new(client.GetStream()) { AutoFlush = true }; }
  public string Ask(string question) { long t = Stopwatch.GetTimestamp(); _writer.WriteLine(question); string answer = _reader.ReadLine() ?? ""; WaitedTicks += Stopwatch.GetTimestamp() - t; Asked++; return answer; }
}
public static class Stall {
  static int PriceOf(PriceClient prices, string good) => int.Parse(prices.Ask(good));
  static int[] PricesOf(PriceClient prices, IEnumerable<string> goods) => prices.Ask(string.Join(';', goods)).Split(';').Select(int.Parse).ToArray();
  public static void Run(string variant) {
    var start = new ProcessStartInfo(Environment.ProcessPath!, new[] { typeof(Stall).Assembly.Location, "price-server", "serve" }) { RedirectStandardOutput = true };
    start.Environment["DOTNET_EnableDiagnostics"] = "0"; start.Environment.Remove("DOTNET_DiagnosticPorts");
    using var server = Process.Start(start)!; int port = int.Parse(server.StandardOutput.ReadLine()!);
    var prices = new PriceClient(port); string[] goods = Enumerable.Range(0, 60).Select(i => "good number " + i).ToArray(); int pages = 0; long sum = 0;
    // The trap waits on a thread of its own for a change that does not come: that is its work.
    if (variant == "trap") new Thread(() => { try { new PriceClient(port).Ask("next change"); } catch (IOException) { } }) { IsBackground = true, Name = "changes" }.Start();
    while (Shift.Open) { sum += LoadPage(prices, goods, variant == "sick"); pages++; if (variant != "sick") Thread.Sleep(280); }
    Truth.Add("network_waited_ns", prices.WaitedTicks * 1e9 / Stopwatch.Frequency); Truth.Add("asked", prices.Asked); Truth.Add("pages", pages); Truth.Add("sum", sum);
    server.Kill();
  }
  static long LoadPage(PriceClient prices, string[] goods, bool each) {
    if (!each) return PricesOf(prices, goods).Sum();
    long sum = 0; foreach (string good in goods) sum += PriceOf(prices, good); return sum;
  }
}
