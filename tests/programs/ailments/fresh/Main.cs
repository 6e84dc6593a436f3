using System; using System.Collections.Generic; using System.Diagnostics; using System.Globalization; using System.IO; using System.Linq; using System.Threading; using System.Threading.Tasks;
public static class Shift {
  static readonly Stopwatch Watch = new(); public static double Seconds = 4;
  public static void Begin() => Watch.Start();
  public static bool Open => Watch.Elapsed.TotalSeconds < Seconds;
  public static double Now => Watch.Elapsed.TotalSeconds;
}
public static class Truth {
  static readonly SortedDictionary<string,double> Numbers = new();
  public static void Add(string name, double value) { lock (Numbers) Numbers[name] = Numbers.GetValueOrDefault(name) + value; }
  public static double ThreadCpuNs() { try { return double.Parse(File.ReadAllText("/proc/thread-self/schedstat").Split(' ')[0], CultureInfo.InvariantCulture); } catch { return 0; } }
  public static string Line(string f, string v) => "{\"family\":\"" + f + "\",\"variant\":\"" + v + "\",\"numbers\":{" + string.Join(",", Numbers.Select(p => "\"" + p.Key + "\":" + p.Value.ToString("R", CultureInfo.InvariantCulture))) + "}}";
}
public static class Program {
  public static async Task<int> Main(string[] a) {
    string family = a[0], variant = a[1]; if (a.Length > 2) Shift.Seconds = double.Parse(a[2], CultureInfo.InvariantCulture);
    Shift.Begin();
    switch (family) {
      case "ledger": Bookkeeping.Office.Run(variant); break;
      case "couriers": await Dispatch.Desk.RunAsync(variant); break;
      case "tariffs": await Quotes.Shop.RunAsync(variant); break;
      case "atlas": Maps.Service.Run(variant); break;
      case "visitors": Portal.Site.Run(variant); break;
      case "thumbnails": await Imaging.Studio.RunAsync(variant); break;
      case "parcels": await Freight.Depot.RunAsync(variant); break;
      case "heartbeats": Telemetry.Station.Run(variant); break;
      case "barometer": Weather.Tower.Run(variant); break;
      case "filters": Mailroom.Sorting.Run(variant); break;
      default: return 2;
    }
    Truth.Add("wall_s", Shift.Now); Truth.Add("gc_pause_ns", GC.GetTotalPauseDuration().TotalMilliseconds * 1e6);
    Truth.Add("process_cpu_ns", Process.GetCurrentProcess().TotalProcessorTime.TotalMilliseconds * 1e6);
    Truth.Add("gen0", GC.CollectionCount(0)); Truth.Add("gen1", GC.CollectionCount(1)); Truth.Add("gen2", GC.CollectionCount(2)); Truth.Add("allocated", GC.GetTotalAllocatedBytes());
    Console.WriteLine(Truth.Line(family, variant)); return 0;
  }
}
