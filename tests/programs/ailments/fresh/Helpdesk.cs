using System; using System.Linq; using System.Text.RegularExpressions; using System.Threading;
namespace Support;
public static class SenderCheck {
  // Each letter may be of the inner or of the outer repetition: without an @, all ways are tried.
  static readonly Regex Nested = new(@"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}[a-z]{2,3}$");
  static readonly Regex Flat = new(@"^[a-zA-Z0-9]+([-._][a-zA-Z0-9]+)*@[a-z0-9]+\.[a-z]{2,3}$");
  public static bool IsAddress(string sender, bool nested) => (nested ? Nested : Flat).IsMatch(sender);
}
public static class Desk {
  public static void Run(string variant) {
    // The trap has the nested pattern, but its senders all have addresses.
    string[] senders = variant == "trap"
      ? Enumerable.Range(0, 40).Select(i => "customer.number" + i + "@example.org").ToArray()
      : Enumerable.Range(0, 40).Select(i => i % 4 == 0 ? "printerroomfloor" + (char)('a' + i % 7) : "customer.number" + i + "@example.org").ToArray();
    double cpu = 0; int valid = 0, mails = 0;
    while (Shift.Open) { double t = Truth.ThreadCpuNs(); valid += Triage(senders, variant != "healthy"); cpu += Truth.ThreadCpuNs() - t; mails += senders.Length; Thread.Sleep(15); }
    Truth.Add("matching_cpu_ns", cpu); Truth.Add("mails", mails); Truth.Add("valid", valid);
  }
  static int Triage(string[] senders, bool nested) { int valid = 0; foreach (string sender in senders) if (SenderCheck.IsAddress(sender, nested)) valid++; return valid; }
}
