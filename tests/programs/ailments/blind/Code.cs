// Exceptions, and code that is compiled over and over.

// Exceptions tell numbers from words.
static class Import
{
    static long thrown;
    static double reading;
    static int rounds;

    public static void Go()
    {
        string[] cells = { "12", "n/a", "7", "none", "81" };
        while (Story.Goes)
        {
            // Measured in one of eight rounds.
            bool measured = rounds++ % 8 == 7;
            double before = measured ? Cpu.OfThread : 0;
            for (int row = 0; row < 150; row++)
                foreach (string cell in cells)
                    if (Story.Sick)
                        Story.Sink += Read(cell);
                    else
                        Story.Sink += int.TryParse(cell, out int number) ? number : 0;
            if (measured)
                reading += 8 * (Cpu.OfThread - before);
            Story.Sink += Story.Grind(400_000);
            Thread.Sleep(20);
            // Now and then something is really wrong.
            if (Story.Trap && thrown < 5 * Story.Time)
                Story.Sink += Read("?");
        }
        Story.Say("thrown", thrown);
        Story.Say("reading_cpu_s", reading);
        Story.Say("reading_share", reading / Cpu.OfProcess);
    }

    [MethodImpl(NoInlining)]
    static int Read(string cell)
    {
        try
        {
            return int.Parse(cell, CultureInfo.InvariantCulture);
        }
        catch (FormatException)
        {
            thrown++;
            return 0;
        }
    }
}

// An exception climbs through two hundred frames.
static class Rules
{
    sealed class Broken : Exception { }

    static long thrown;
    static double spent;

    public static void Go()
    {
        while (Story.Goes)
        {
            double before = Cpu.OfThread;
            int count = Story.Sick ? 300 : 30;
            for (int i = 0; i < count; i++)
                try
                {
                    Story.Sink += Check(Story.Sick ? 200 : 60);
                }
                catch (Broken)
                {
                    thrown++;
                }
            spent += Cpu.OfThread - before;
            Story.Sink += Story.Grind(5_000 * count);
            if (!Story.Sick)
                Thread.Sleep(25);
        }
        Story.Say("thrown", thrown);
        Story.Say("checking_cpu_s", spent);
        Story.Say("checking_share", spent / Cpu.OfProcess);
    }

    // The trap goes as deep as a usual program does, and comes back without an exception.
    [MethodImpl(NoInlining)]
    static long Check(int depth)
    {
        if (depth == 0)
            return Story.Sick ? Refuse() : 1;
        if (Story.Healthy)
            return depth;
        return Check(depth - 1) + 1;
    }

    [MethodImpl(NoInlining)] static long Refuse() => throw new Broken();
}

// Hundreds of generic types over structs are made in the beginning, each of which must be compiled.
static class Handlers
{
    interface IHandler { long Handle(); }

#pragma warning disable CS0169 // Their sizes are all that matters.
    struct A { long a; } struct B { long a, b; } struct C { int a; } struct D { byte a; } struct E { short a; } struct F { double a; }
    struct G { float a; } struct H { char a; } struct I { int a, b, c; } struct J { long a; int b; } struct K { bool a; } struct L { byte a, b; }

    struct Box<T> { T value; }
    struct Twin<T> { T one, two; }
#pragma warning restore CS0169

    sealed class Pair<X, Y> : IHandler where X : struct where Y : struct
    {
        readonly Dictionary<X, Y> known = new();
        readonly List<Y> listed = new();

        [MethodImpl(NoInlining)]
        public long Handle()
        {
            known[default] = default;
            listed.Add(default);
            long x = First() + Second(3);
            foreach (KeyValuePair<X, Y> pair in known)
                x += pair.GetHashCode() & 1;
            return x + listed.Count;
        }

        [MethodImpl(NoInlining)] long First() => Unsafe.SizeOf<X>() * 3 + Unsafe.SizeOf<Y>();
        [MethodImpl(NoInlining)] long Second(int n) { long x = 0; for (int i = 0; i < n; i++) x += Unsafe.SizeOf<Y>() + i; return x; }
    }

    public static void Go()
    {
        Type[] parts = { typeof(A), typeof(B), typeof(C), typeof(D), typeof(E), typeof(F), typeof(G), typeof(H), typeof(I), typeof(J), typeof(K), typeof(L) };
        Type[] boxes = parts.Select(t => typeof(Box<>).MakeGenericType(t)).ToArray(), twins = parts.Select(t => typeof(Twin<>).MakeGenericType(t)).ToArray();
        int pairs = 0;
        double began = Story.Time;
        if (!Story.Healthy)
            // The trap makes a few.
            foreach (Type x in Story.Sick ? parts.Concat(boxes) : parts.Take(2))
                foreach (Type y in Story.Sick ? parts.Concat(boxes).Concat(twins) : parts.Take(2))
                {
                    Register(x, y);
                    pairs++;
                }
        else
            Story.Sink += new Pair<long, long>().Handle();
        Story.Say("start_s", Story.Time - began);
        Story.Say("pairs", pairs);
        Story.Say("start_jit_s", System.Runtime.JitInfo.GetCompilationTime().TotalSeconds);
        Story.Say("start_jit_methods", System.Runtime.JitInfo.GetCompiledMethodCount());
        Story.Idle();
    }

    [MethodImpl(NoInlining)]
    static void Register(Type x, Type y)
    {
        IHandler handler = (IHandler)Activator.CreateInstance(typeof(Pair<,>).MakeGenericType(x, y))!;
        Story.Sink += handler.Handle();
    }
}

// Code is generated for every record instead of once.
static class Mapper
{
    sealed class Person { public int Age { get; set; } = 7; }

    static readonly System.Reflection.MethodInfo getter = typeof(Person).GetProperty("Age")!.GetMethod!;
    static long made, mapped;
    static double spent;

    public static void Go()
    {
        Person person = new();
        Func<Person, int> kept = Generate();
        while (Story.Goes)
        {
            double before = Cpu.OfThread;
            for (int i = 0; i < 20; i++)
            {
                // The trap calls by reflection, which compiles nothing.
                if (Story.Sick)
                    Story.Sink += Map(person);
                else
                {
                    Story.Sink += Story.Trap ? (int)getter.Invoke(person, null)! : kept(person);
                    mapped++;
                }
            }
            spent += Cpu.OfThread - before;
            Story.Sink += Story.Grind(300_000);
            if (!Story.Sick)
                Thread.Sleep(25);
        }
        Story.Say("generated", made);
        Story.Say("mapped", mapped);
        Story.Say("mapping_cpu_s", spent);
        Story.Say("mapping_share", spent / Cpu.OfProcess);
    }

    [MethodImpl(NoInlining)]
    static int Map(Person person)
    {
        int age = Generate()(person);
        mapped++;
        return age;
    }

    [MethodImpl(NoInlining)]
    static Func<Person, int> Generate()
    {
        made++;
        System.Reflection.Emit.DynamicMethod method = new("get", typeof(int), new[] { typeof(Person) }, typeof(Mapper).Module, true);
        System.Reflection.Emit.ILGenerator il = method.GetILGenerator();
        for (int i = 0; i < 40; i++)
        {
            il.Emit(System.Reflection.Emit.OpCodes.Ldarg_0);
            il.Emit(System.Reflection.Emit.OpCodes.Call, getter);
            if (i > 0)
                il.Emit(System.Reflection.Emit.OpCodes.Add);
        }
        il.Emit(System.Reflection.Emit.OpCodes.Ret);
        return (Func<Person, int>)method.CreateDelegate(typeof(Func<Person, int>));
    }
}

// A regular expression is made, and compiled, for every line.
static class Patterns
{
    const string Pattern = @"^(\w+)\s+(\d{1,3})\.(\d{1,3})\s+""([^""]*)""$";

    static readonly Regex kept = new(Pattern, RegexOptions.Compiled);
    static long made, matched, lines;
    static double making;

    public static void Go()
    {
        if (Story.Trap)
            for (int i = 0; i < 5; i++)
                Story.Sink += Make(Pattern + i).ToString().Length;
        while (Story.Goes)
        {
            double before = Cpu.OfThread;
            for (int i = 0; i < 10; i++)
            {
                string line = $"host{i} 127.{i} \"request {i}\"";
                if (Story.Sick ? Classify(line) : kept.IsMatch(line))
                    matched++;
            }
            making += Cpu.OfThread - before;
            Story.Sink += Story.Grind(200_000);
            if (!Story.Sick)
                Thread.Sleep(25);
        }
        Story.Say("made", made);
        Story.Say("matched", matched);
        Story.Say("classified", lines);
        Story.Say("making_cpu_s", making);
        Story.Say("making_share", making / Cpu.OfProcess);
    }

    // The first match has the expression's code compiled.
    [MethodImpl(NoInlining)]
    static bool Classify(string line)
    {
        bool matches = Make(Pattern).IsMatch(line);
        lines++;
        return matches;
    }

    [MethodImpl(NoInlining)]
    static Regex Make(string pattern)
    {
        made++;
        return new Regex(pattern, RegexOptions.Compiled);
    }
}
