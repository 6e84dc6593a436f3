using System; using System.Collections.Generic; using System.Linq; using System.Threading;
namespace Philately;
/// <summary>A key whose hash is the country's: a dictionary of 60,000 motifs has twelve chains.</summary>
public readonly struct Motif : IEquatable<Motif> {
  public readonly int Country, Number;
  public Motif(int country, int number) { Country = country; Number = number; }
  public bool Equals(Motif other) => Country == other.Country && Number == other.Number;
  public override bool Equals(object? other) => other is Motif motif && Equals(motif);
  public override int GetHashCode() => Country;
}
public readonly record struct Emission(int Country, int Number);
public sealed class Catalogue<TKey> where TKey : notnull {
  readonly Dictionary<TKey, int> _worth = new();
  public void List(TKey motif, int cents) => _worth[motif] = cents;
  public int WorthOf(TKey motif) => _worth.TryGetValue(motif, out int cents) ? cents : 0;
}
public static class Club {
  const int PerCountry = 5000;
  public static void Run(string variant) {
    if (variant == "healthy") Meet((country, number) => new Emission(country, number), PerCountry);
    else Meet((country, number) => new Motif(country, number), variant == "sick" ? PerCountry : 2);
  }
  static void Meet<TKey>(Func<int, int, TKey> make, int perCountry) where TKey : notnull {
    var catalogue = new Catalogue<TKey>();
    double begun = Truth.ThreadCpuNs();
    for (int i = 0; i < 12 * perCountry; i++) catalogue.List(make(i % 12, i / 12), i);
    var random = new Random(5); long sum = 0;
    while (Shift.Open) {
      sum += Appraise(catalogue, Enumerable.Range(0, 3000).Select(_ => make(random.Next(12), random.Next(perCountry))).ToArray());
      Truth.Add("appraised", 3000); Thread.Sleep(6);
    }
    Truth.Add("looking_up_cpu_ns", Truth.ThreadCpuNs() - begun); Truth.Add("sum", sum);
  }
  static long Appraise<TKey>(Catalogue<TKey> catalogue, TKey[] album) where TKey : notnull {
    long sum = 0; foreach (var motif in album) sum += catalogue.WorthOf(motif); return sum;
  }
}
