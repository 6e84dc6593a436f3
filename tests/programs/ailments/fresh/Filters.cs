using System; using System.Collections.Generic; using System.Diagnostics; using System.Linq; using System.Text.RegularExpressions; using System.Threading;
namespace Mailroom;
public sealed class SubjectRule { readonly string _pattern; Regex? _kept; readonly bool _keep; public static long MakeTicks; public static int Made;
  public SubjectRule(string p, bool keep) { _pattern = p; _keep = keep; if (keep) _kept = Build(); }
  public bool Fits(string subject) => (_keep ? _kept! : Build()).IsMatch(subject);
  Regex Build() { long t = Stopwatch.GetTimestamp(); var r = new Regex(_pattern, RegexOptions.IgnoreCase | RegexOptions.CultureInvariant); MakeTicks += Stopwatch.GetTimestamp() - t; Made++; return r; } }
public sealed class RuleBook { readonly List<SubjectRule> _rules = new();
  public RuleBook(bool keep, int n) { string[] stems = { @"^re:\s*(order|offer)\s+#?\d{{3,8}}-{0}", @"\b(invoice|bill)\s+no\.?\s*{0}\d+", @"(urgent|asap).*(reply|answer){0}", @"[\w.]+@[\w-]+\.(com|org|net){0}" }; for (int i = 0; i < n; i++) _rules.Add(new SubjectRule(string.Format(stems[i % 4], i), keep)); }
  public int Folder(string subject) { for (int i = 0; i < _rules.Count; i++) if (_rules[i].Fits(subject)) return i; return -1; } }
public static class Sorting {
  public static void Run(string variant) {
    var book = new RuleBook(variant != "sick", variant == "trap" ? 80 : 16); var r = new Random(9); long filed = 0, mails = 0; double cpu = Truth.ThreadCpuNs(); var w = Stopwatch.StartNew();
    while (Shift.Open) { for (int i = 0; i < 10; i++) { filed += Sort(book, r) >= 0 ? 1 : 0; mails++; } if (variant != "sick") Thread.Sleep(1); }
    cpu = Truth.ThreadCpuNs() - cpu; Truth.Add("regex_making_cpu_ns", variant == "sick" ? cpu * SubjectRule.MakeTicks / w.ElapsedTicks : 0); Truth.Add("regexes_made", SubjectRule.Made); Truth.Add("main_cpu_ns", cpu); Truth.Add("mails", mails); Truth.Add("filed", filed);
  }
  static int Sort(RuleBook book, Random r) => book.Folder("RE: order #" + r.Next(100000) + "-" + r.Next(40) + " please answer");
}
