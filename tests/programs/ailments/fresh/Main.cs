using System; using System.Collections.Generic; using System.Diagnostics; using System.Globalization; using System.IO; using System.Linq; using System.Runtime.InteropServices; using System.Threading; using System.Threading.Tasks;
public static class Shift {
  static readonly Stopwatch Watch = new(); public static double Seconds = 4;
  public static void Begin() => Watch.Start();
  public static bool Open => Watch.Elapsed.TotalSeconds < Seconds;
  public static double Now => Watch.Elapsed.TotalSeconds;
}
public static class Truth {
  static readonly SortedDictionary<string,double> Numbers = new();
  public static void Add(string name, double value) { lock (Numbers) Numbers[name] = Numbers.GetValueOrDefault(name) + value; }
  [DllImport("libc")] static extern int clock_gettime(int clock, long[] time);
  [ThreadStatic] static long[]? _time;
  public static double ThreadCpuNs() { _time ??= new long[2]; clock_gettime(3, _time); return _time[0] * 1e9 + _time[1]; }
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
      case "stamps": Philately.Club.Run(variant); break;
      case "helpdesk": Support.Desk.Run(variant); break;
      case "customs": Border.Office.Run(variant); break;
      case "turnout": Stadium.Gates.Run(variant); break;
      case "loom": Weaving.Mill.Run(variant); break;
      case "cellar": Winery.Cellar.Run(variant); break;
      case "lithograph": Printing.Workshop.Run(variant); break;
      case "switchboard": await Telephony.Exchange.RunAsync(variant); break;
      case "signals": await Railway.Signals.RunAsync(variant); break;
      case "layers": Archive.ReadingRoom.Run(variant); break;
      case "market": Trade.Stall.Run(variant); break;
      case "plugins": Studio.Easel.Run(variant); break;
      case "price-server": return Trade.PriceServer.Serve(); // started by market
      default: return 2;
    }
    Truth.Add("wall_s", Shift.Now); Truth.Add("gc_pause_ns", GC.GetTotalPauseDuration().TotalMilliseconds * 1e6);
    Truth.Add("process_cpu_ns", Process.GetCurrentProcess().TotalProcessorTime.TotalMilliseconds * 1e6);
    Truth.Add("gen0", GC.CollectionCount(0)); Truth.Add("gen1", GC.CollectionCount(1)); Truth.Add("gen2", GC.CollectionCount(2)); Truth.Add("allocated", GC.GetTotalAllocatedBytes());
    Console.WriteLine(Truth.Line(family, variant)); return 0;
  }
}
