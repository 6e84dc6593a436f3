// Exceptions: so many that they cost, and as the way to say "no".
using System;
using System.Runtime.CompilerServices;
using System.Threading;

public static class Throws
{
    static Truth Told { get { return Ailments.Told; } }

    [MethodImpl(MethodImplOptions.NoInlining)] static void A(int i) { throw new InvalidOperationException("a"); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void B(int i) { throw new ArgumentException("b"); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void C(int i) { throw new FormatException("c"); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void D(int i) { throw new TimeoutException("d"); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Validate(int i)
    {
        try { switch (i % 4) { case 0: A(i); break; case 1: B(i); break; case 2: C(i); break; default: D(i); break; } } catch (Exception) { Told.Add(); }
    }
    [MethodImpl(MethodImplOptions.NoInlining)] static bool Check(int i) { return i % 4 == 0; }

    // About 10,000 a second, from four places.
    public static void Rate()
    {
        Told.Culprit = "Throws.Validate";
        int i = 0;
        while (Ailments.Goes)
        {
            if (Ailments.Sick) for (int k = 0; k < 60; k++) Validate(i++); else Check(i++);
            Thread.Sleep(5);
        }
        // All that still runs is cancelled when the program ends: 120 at once.
        if (Ailments.Trap) for (int k = 0; k < 120; k++) Cancel();
        Told.Count = Told.Sum;
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Cancel() { try { throw new OperationCanceledException(); } catch (OperationCanceledException) { Told.Add(); } }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int ReadNumber(string s) { try { return int.Parse(s); } catch (FormatException) { Told.Add(); return -1; } }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int TryNumber(string s) { int n; return int.TryParse(s, out n) ? n : -1; }

    // 400 numbers a second that are none.
    public static void Control()
    {
        Told.Culprit = "Throws.ReadNumber";
        while (Ailments.Goes)
        {
            for (int k = 0; k < 5; k++) if (Ailments.Sick) ReadNumber("n" + k); else if (!Ailments.Trap) TryNumber("n" + k);
            if (Ailments.Trap) { ReadNumber("later"); Thread.Sleep(250); }  // tries again, a quarter of a second later
            Thread.Sleep(10);
        }
        Told.Count = Told.Sum;
    }
}
