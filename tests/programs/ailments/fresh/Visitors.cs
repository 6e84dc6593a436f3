using System; using System.Collections.Generic; using System.Diagnostics; using System.Linq; using System.Text; using System.Threading;
namespace Portal;
public static class SiteBus { public static event EventHandler? ThemeChanged; public static void Raise() => ThemeChanged?.Invoke(null, EventArgs.Empty); }
public sealed class PageSession : IDisposable {
  readonly byte[] _viewState = new byte[12000]; readonly string _user; bool _dark;
  public PageSession(string user) { _user = user; }
  public void Attach() => SiteBus.ThemeChanged += OnThemeChanged;
  public void Dispose() => SiteBus.ThemeChanged -= OnThemeChanged;
  void OnThemeChanged(object? s, EventArgs e) => _dark = !_dark;
  public int Render() { var b = new StringBuilder(); for (int i = 0; i < 400; i++) b.Append("<li>").Append(_user).Append(i).Append("</li>"); _viewState[b.Length % 12000]++; return b.ToString().Length; }
}
public sealed class SessionShelf { // bounded
  readonly Dictionary<int, PageSession> _byId = new(); readonly Queue<int> _age = new();
  public void Keep(int id, PageSession s) { if (_age.Count >= 1200) _byId.Remove(_age.Dequeue()); _age.Enqueue(id); _byId[id] = s; }
}
public static class Site {
  static readonly SessionShelf Shelf = new();
  public static void Run(string variant) {
    int n = 0; long bytes = 0, pages = 0;
    while (Shift.Open) { for (int k = 0; k < 4; k++) { bytes += Visit(variant, n++); pages++; } Thread.Sleep(2); }
    Truth.Add("leaked_bytes", bytes); Truth.Add("pages", pages); Truth.Add("heap_end", GC.GetTotalMemory(false));
  }
  static long Visit(string variant, int n) {
    long before = GC.GetAllocatedBytesForCurrentThread(); var page = OpenPage(variant, n); long kept = GC.GetAllocatedBytesForCurrentThread() - before;
    page.Render(); if (variant == "healthy") page.Dispose(); if (variant == "trap") Shelf.Keep(n, page); return variant == "sick" ? kept : 0;
  }
  static PageSession OpenPage(string variant, int n) { var p = new PageSession("visitor" + n % 100); if (variant != "trap") p.Attach(); return p; }
}
