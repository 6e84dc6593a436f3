// What the compiler does while the program should work: everything at the start, and methods made again and again.
using System;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading;

public static class Compiles
{
    static Truth Told { get { return Ailments.Told; } }
    static long sum;

    public static void StartUp()
    {
        Told.Culprit = "Ailments";  // the module that is compiled
        if (Ailments.Sick) sum += Generated.All(3);
        else if (Ailments.Trap) sum += Ailments.Burn(2000);
        else for (int i = 0; i < 5000; i++) sum += Generated.M0(i);
        if (Ailments.Sick) { Told.Ns = Ailments.CompiledNs(); }
        while (Ailments.Goes) Thread.Sleep(50);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Func<int, int> Compile(int n)
    {
        var made = new DynamicMethod("rule" + n, typeof(int), new[] { typeof(int) }); var il = made.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldc_I4, n); il.Emit(OpCodes.Add); il.Emit(OpCodes.Ret); Told.Add();
        return (Func<int, int>)made.CreateDelegate(typeof(Func<int, int>));
    }

    public static void Churn()
    {
        Told.Culprit = "Compiles.Compile";
        var once = Compile(1); int n = 0;
        if (Ailments.Trap) for (int i = 0; i < 200; i++) sum += Compile(i)(i);  // rules are made once, at the start
        while (Ailments.Goes) { for (int i = 0; i < 2; i++) sum += Ailments.Sick ? Compile(n++)(i) : once(i); Thread.Sleep(10); }
        Told.Count = Told.Sum;
    }
}
