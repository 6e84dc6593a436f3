using System; using System.Collections.Generic; using System.IO; using System.Threading; using System.Xml.Serialization;
namespace Border;
public sealed class Good { public string Name = ""; public double Weight; public int Pieces; }
public sealed class Declaration { public string Sender = ""; public string Receiver = ""; public DateTime Day; public List<Good> Goods = new(); }
public static class DeclarationWriter {
  static readonly Dictionary<string, XmlSerializer> Known = new();
  // The framework itself remembers serializers of this constructor only without a root.
  static XmlSerializer SerializerFor(string country) => new(typeof(Declaration), new XmlRootAttribute("declaration-" + country));
  public static string ToXml(Declaration declaration, string country, bool remember) {
    XmlSerializer? serializer;
    if (!remember) { serializer = SerializerFor(country); Truth.Add("serializers", 1); }
    else if (!Known.TryGetValue(country, out serializer)) { Known[country] = serializer = SerializerFor(country); Truth.Add("serializers", 1); }
    var text = new StringWriter(); serializer.Serialize(text, declaration); return text.ToString();
  }
}
public static class Office {
  public static void Run(string variant) {
    // The trap makes one serializer for each of a dozen countries as it begins, and no more.
    int countries = variant == "trap" ? 12 : 1, papers = 0; long length = 0; double cpu = Truth.ThreadCpuNs();
    if (variant == "trap") for (int i = 0; i < countries; i++) DeclarationWriter.ToXml(new Declaration(), "C" + i, true);
    while (Shift.Open) { length += Clear(papers % countries, variant != "sick"); papers++; Thread.Sleep(3); }
    Truth.Add("clearing_cpu_ns", Truth.ThreadCpuNs() - cpu); Truth.Add("papers", papers); Truth.Add("length", length);
  }
  static int Clear(int country, bool remember) {
    var paper = new Declaration { Sender = "Harbour & Sons", Receiver = "Mill Ltd.", Day = DateTime.UnixEpoch };
    for (int i = 0; i < 20; i++) paper.Goods.Add(new Good { Name = "crate " + i, Weight = i * 1.5, Pieces = i });
    return DeclarationWriter.ToXml(paper, "C" + country, remember).Length;
  }
}
