using System; using System.Collections.Generic; using System.ComponentModel; using System.IO; using System.Linq; using System.Reflection; using System.Threading;
namespace Studio;
[AttributeUsage(AttributeTargets.Class)] public sealed class BrushAttribute : Attribute { }
public interface IBrush { int Paint(int canvas); }
[Brush] public sealed class Oil : IBrush { public int Paint(int canvas) => canvas + 1; }
[Brush] public sealed class Chalk : IBrush { public int Paint(int canvas) => canvas * 3; }
public static class BrushScan {
  /// <summary>Looks at every member of every type of these assemblies for what may be a brush.</summary>
  public static List<IBrush> Discover(IEnumerable<Assembly> assemblies) {
    var found = new List<IBrush>(); int described = 0;
    foreach (var assembly in assemblies)
      foreach (var type in TypesOf(assembly)) {
        if (type.IsDefined(typeof(BrushAttribute), true)) found.Add((IBrush)Activator.CreateInstance(type)!);
        foreach (var member in type.GetMembers(BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static)) if (IsDescribed(member)) described++;
      }
    return found;
  }
  static bool IsDescribed(MemberInfo member) { try { return member.GetCustomAttributes(typeof(DescriptionAttribute), true).Length > 0; } catch (Exception e) when (e is IOException or TypeLoadException) { return false; } }
  static Type[] TypesOf(Assembly assembly) { try { return assembly.GetTypes(); } catch (ReflectionTypeLoadException e) { return e.Types.OfType<Type>().ToArray(); } }
  public static IEnumerable<Assembly> Everything() {
    yield return typeof(BrushScan).Assembly;
    foreach (string file in Directory.GetFiles(Path.GetDirectoryName(typeof(object).Assembly.Location)!, "System.*.dll").OrderBy(one => one)) {
      Assembly? loaded = null; try { loaded = Assembly.LoadFrom(file); } catch (Exception e) when (e is BadImageFormatException or IOException) { } if (loaded != null) yield return loaded;
    }
  }
}
public static class Easel {
  public static void Run(string variant) {
    double t = Shift.Now, cpu = Truth.ThreadCpuNs();
    var brushes = variant switch { "sick" => BrushScan.Discover(BrushScan.Everything()), "trap" => BrushScan.Discover(new[] { typeof(Easel).Assembly }), _ => new List<IBrush> { new Oil(), new Chalk() } };
    Truth.Add("starting_ns", (Shift.Now - t) * 1e9); Truth.Add("starting_cpu_ns", Truth.ThreadCpuNs() - cpu); Truth.Add("brushes", brushes.Count);
    int canvas = 0; while (Shift.Open) { foreach (var brush in brushes) canvas = brush.Paint(canvas) % 1000; Thread.Sleep(20); }
    Truth.Add("sum", canvas);
  }
}
