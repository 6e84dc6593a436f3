// Where processor time goes.

// One hot method among eight stages.
static class Pictures
{
    static double blur, all;

    public static void Go()
    {
        while (Story.Goes)
        {
            double from = Cpu.OfThread;
            int n = Story.Healthy ? 150_000 : 1_200_000;
            Story.Sink += Decode(n) + Crop(n) + Scale(n) + Rotate(n);
            double before = Cpu.OfThread;
            Story.Sink += Blur(Story.Sick ? 18 * n : n);
            blur += Cpu.OfThread - before;
            Story.Sink += Sharpen(n) + Tint(n) + Encode(n);
            all += Cpu.OfThread - from;
            if (Story.Healthy)
                Thread.Sleep(40);
        }
        Story.Say("blur_cpu_s", blur);
        Story.Say("blur_share", blur / Cpu.OfProcess);
        Story.Say("work_cpu_s", all);
    }

    [MethodImpl(NoInlining)] static long Decode(int n) { long x = 1; for (int i = 0; i < n; i++) x = x * 31 + i; return x; }
    [MethodImpl(NoInlining)] static long Crop(int n) { long x = 2; for (int i = 0; i < n; i++) x = x * 33 + i; return x; }
    [MethodImpl(NoInlining)] static long Scale(int n) { long x = 3; for (int i = 0; i < n; i++) x = x * 35 + i; return x; }
    [MethodImpl(NoInlining)] static long Rotate(int n) { long x = 4; for (int i = 0; i < n; i++) x = x * 37 + i; return x; }
    [MethodImpl(NoInlining)] static long Blur(int n) { long x = 5; for (int i = 0; i < n; i++) x = x * 39 + i; return x; }
    [MethodImpl(NoInlining)] static long Sharpen(int n) { long x = 6; for (int i = 0; i < n; i++) x = x * 41 + i; return x; }
    [MethodImpl(NoInlining)] static long Tint(int n) { long x = 7; for (int i = 0; i < n; i++) x = x * 43 + i; return x; }
    [MethodImpl(NoInlining)] static long Encode(int n) { long x = 8; for (int i = 0; i < n; i++) x = x * 45 + i; return x; }
}

// One branch of a tree is hot, no single method of it.
static class Offers
{
    static double discounts;

    public static void Go()
    {
        while (Story.Goes)
        {
            Price();
            if (Story.Healthy)
                Thread.Sleep(40);
        }
        Story.Say("discounts_cpu_s", discounts);
        Story.Say("discounts_share", discounts / Cpu.OfProcess);
    }

    [MethodImpl(NoInlining)]
    static void Price()
    {
        int scale = Story.Healthy ? 1 : 15;
        double before = Cpu.OfThread;
        for (int i = 0; i < (Story.Sick ? 4 : 1); i++)
            FindDiscounts((Story.Sick ? 40_000 : 20_000) * scale);
        discounts += Cpu.OfThread - before;
        CheckStock(50_000 * scale);
        AddTaxes(50_000 * scale);
        PlanTransport(50_000 * scale);
        PrintLines(50_000 * scale);
    }

    [MethodImpl(NoInlining)] static void FindDiscounts(int n) => Story.Sink += ByCustomer(n) + BySeason(n) + ByVolume(n) + ByCoupon(n) + ByRegion(n);
    [MethodImpl(NoInlining)] static void CheckStock(int n) => Story.Sink += Nearby(n) + Ordered(n);
    [MethodImpl(NoInlining)] static void AddTaxes(int n) => Story.Sink += Federal(n) + Local(n);
    [MethodImpl(NoInlining)] static void PlanTransport(int n) => Story.Sink += Route(n) + Weigh(n);
    [MethodImpl(NoInlining)] static void PrintLines(int n) => Story.Sink += Wrap(n) + Align(n);

    [MethodImpl(NoInlining)] static long ByCustomer(int n) { long x = 1; for (int i = 0; i < n; i++) x = x * 31 + i; return x; }
    [MethodImpl(NoInlining)] static long BySeason(int n) { long x = 2; for (int i = 0; i < n; i++) x = x * 33 + i; return x; }
    [MethodImpl(NoInlining)] static long ByVolume(int n) { long x = 3; for (int i = 0; i < n; i++) x = x * 35 + i; return x; }
    [MethodImpl(NoInlining)] static long ByCoupon(int n) { long x = 4; for (int i = 0; i < n; i++) x = x * 37 + i; return x; }
    [MethodImpl(NoInlining)] static long ByRegion(int n) { long x = 5; for (int i = 0; i < n; i++) x = x * 39 + i; return x; }
    [MethodImpl(NoInlining)] static long Nearby(int n) { long x = 6; for (int i = 0; i < n; i++) x = x * 41 + i; return x; }
    [MethodImpl(NoInlining)] static long Ordered(int n) { long x = 7; for (int i = 0; i < n; i++) x = x * 43 + i; return x; }
    [MethodImpl(NoInlining)] static long Federal(int n) { long x = 8; for (int i = 0; i < n; i++) x = x * 45 + i; return x; }
    [MethodImpl(NoInlining)] static long Local(int n) { long x = 9; for (int i = 0; i < n; i++) x = x * 47 + i; return x; }
    [MethodImpl(NoInlining)] static long Route(int n) { long x = 10; for (int i = 0; i < n; i++) x = x * 49 + i; return x; }
    [MethodImpl(NoInlining)] static long Weigh(int n) { long x = 11; for (int i = 0; i < n; i++) x = x * 51 + i; return x; }
    [MethodImpl(NoInlining)] static long Wrap(int n) { long x = 12; for (int i = 0; i < n; i++) x = x * 53 + i; return x; }
    [MethodImpl(NoInlining)] static long Align(int n) { long x = 13; for (int i = 0; i < n; i++) x = x * 55 + i; return x; }
}

// A list is searched from its beginning for every item: the time is spent in the library, the caller is to blame.
static class Basket
{
    static readonly List<string> list = Enumerable.Range(0, 3000).Select(i => $"article {i:D6}").ToList();
    static readonly HashSet<string> set = new(list);
    static double known;
    static long hits;

    public static void Go()
    {
        string[] wanted = Enumerable.Range(0, 200).Select(i => $"article {i * 20:D6}").ToArray();
        while (Story.Goes)
        {
            double before = Cpu.OfThread;
            int rounds = Story.Sick ? 20 : 1;
            for (int round = 0; round < rounds; round++)
                foreach (string name in wanted)
                    hits += Knows(name) ? 1 : 0;
            known += Cpu.OfThread - before;
            if (!Story.Trap)
                for (int round = 0; round < rounds; round++)
                    foreach (string name in wanted)
                        Story.Sink += Total(1500);
            if (Story.Trap)
                Thread.Sleep(50);
            else if (Story.Healthy)
                Thread.Sleep(40);
        }
        Story.Say("hits", hits);
        Story.Say("knows_cpu_s", known);
        Story.Say("knows_share", known / Cpu.OfProcess);
    }

    // The trap searches a list, too, but seldom and only its beginning.
    [MethodImpl(NoInlining)]
    static bool Knows(string name)
    {
        bool knows = Story.Sick ? list.Contains(name) : Story.Trap ? list.IndexOf(name, 0, 20) >= 0 : set.Contains(name);
        if (knows)
            Story.Sink++;
        return knows;
    }

    [MethodImpl(NoInlining)] static long Total(int n) { long x = 1; for (int i = 0; i < n; i++) x = x * 31 + i; return x; }
}

// A thread spins on a flag until another is ready.
static class Starter
{
    static volatile bool ready, stop;
    static readonly ManualResetEventSlim opened = new();
    static double spun;

    public static void Go()
    {
        Thread waiter = Story.Start(Story.Sick ? AwaitReady : Story.Healthy ? WaitReady : SearchNonce, "waiter");
        Story.Idle();
        ready = stop = true;
        opened.Set();
        waiter.Join();
        Story.Say("spun_cpu_s", Story.Sick ? spun : 0);
        Story.Say("computed_cpu_s", Story.Trap ? spun : 0);
    }

    [MethodImpl(NoInlining)]
    static void AwaitReady()
    {
        double before = Cpu.OfThread;
        while (!ready)
        {
        }
        spun = Cpu.OfThread - before;
    }

    [MethodImpl(NoInlining)] static void WaitReady() => opened.Wait();

    // Computes all the time, and looks at a flag to know when to end.
    [MethodImpl(NoInlining)]
    static void SearchNonce()
    {
        double before = Cpu.OfThread;
        ulong nonce = 1, best = ulong.MaxValue;
        while (!stop)
        {
            nonce += 0x9E3779B97F4A7C15;
            ulong z = nonce;
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
            z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
            best = Math.Min(best, z ^ (z >> 31));
        }
        Story.Sink += (long)best;
        spun = Cpu.OfThread - before;
    }
}

// Threads wait for their turn by SpinWait while the one whose turn it is takes its time.
static class Seats
{
    static int taken;
    static readonly Total spun = new();
    static long counter;

    public static void Go()
    {
        Story.Together(2, Story.Trap ? Count : Guest);
        spun.Say("spun_cpu");
        Story.Say("counted", counter);
    }

    static void Guest()
    {
        while (Story.Goes)
        {
            if (Story.Sick)
            {
                Acquire();
                Thread.Sleep(60);
                Volatile.Write(ref taken, 0);
            }
            else
                // Each has a seat of its own.
                lock (new object())
                    Thread.Sleep(60);
            Thread.Sleep(5);
        }
    }

    [MethodImpl(NoInlining)]
    static void Acquire()
    {
        double before = Cpu.OfThread;
        SpinWait spinner = new();
        while (Interlocked.CompareExchange(ref taken, 1, 0) != 0)
            spinner.SpinOnce(-1);
        spun.Add(Cpu.OfThread - before);
    }

    // Spins, too, but for nanoseconds and seldom: two threads count what they have done.
    static void Count()
    {
        while (Story.Goes)
        {
            Interlocked.Add(ref Story.Sink, Story.Grind(1_000_000));
            double before = Cpu.OfThread;
            SpinWait spinner = new();
            long seen = Volatile.Read(ref counter);
            while (Interlocked.CompareExchange(ref counter, seen + 1, seen) != seen)
            {
                spinner.SpinOnce();
                seen = Volatile.Read(ref counter);
            }
            spun.Add(Cpu.OfThread - before);
            Thread.Sleep(25);
        }
    }
}

// A recursion of some hundred frames, with the work at its bottom.
static class Folders
{
    static double weighed;
    static int deepest;

    public static void Go()
    {
        int depth = Story.Sick ? 400 : 40;
        while (Story.Goes)
        {
            if (Story.Healthy)
            {
                for (int level = depth; level > 0; level--)
                    Story.Sink += Look(level);
                Thread.Sleep(25);
            }
            else
            {
                Story.Sink += Walk(depth);
                if (Story.Trap)
                    Thread.Sleep(25);
            }
        }
        Story.Say("weigh_cpu_s", weighed);
        Story.Say("weigh_share", weighed / Cpu.OfProcess);
        Story.Say("depth", deepest);
    }

    [MethodImpl(NoInlining)]
    static long Walk(int depth)
    {
        deepest = Math.Max(deepest, depth);
        if (depth == 0)
            return Weigh(Story.Sick ? 15_000_000 : 20_000);
        return Walk(depth - 1) + depth;
    }

    [MethodImpl(NoInlining)]
    static long Weigh(int n)
    {
        double before = Cpu.OfThread;
        long x = 1;
        for (int i = 0; i < n; i++)
            x = x * 31 + i;
        weighed += Cpu.OfThread - before;
        return x;
    }

    [MethodImpl(NoInlining)] static long Look(int level) => level * 31 + 7;
}

// Independent computations, one after the other on one thread, while other processors have nothing to do.
static class Forecast
{
    static readonly Total region = new();

    public static void Go()
    {
        if (Story.Sick)
            InTurn();
        else if (Story.Healthy)
            while (Story.Goes)
                Parallel.For(0, 8, new ParallelOptions { MaxDegreeOfParallelism = Environment.ProcessorCount }, i => Compute());
        else
            Seldom();
        region.Say("compute_cpu");
        Story.Say("processors", Environment.ProcessorCount);
        Story.Say("busy_processors", Cpu.OfProcess / Story.Time);
    }

    [MethodImpl(NoInlining)]
    static void InTurn()
    {
        while (Story.Goes)
            for (int i = 0; i < 8; i++)
                Compute();
    }

    // One region a while: there is nothing to be done beside it.
    [MethodImpl(NoInlining)]
    static void Seldom()
    {
        while (Story.Goes)
        {
            Compute();
            Thread.Sleep(200);
        }
    }

    [MethodImpl(NoInlining)]
    static void Compute()
    {
        double before = Cpu.OfThread;
        Interlocked.Add(ref Story.Sink, Story.Grind(Story.Trap ? 8_000_000 : 30_000_000));
        region.Add(Cpu.OfThread - before);
    }
}

// Each line of a log carries the stack of its writer.
static class Journal
{
    static double written;
    static long lines;

    public static void Go()
    {
        while (Story.Goes)
        {
            int count = Story.Sick ? 2000 : 150;
            Story.Sink += Story.Grind(2_000 * count);
            double before = Cpu.OfThread;
            for (int i = 0; i < count; i++)
                Write(i);
            written += Cpu.OfThread - before;
            lines += count;
            if (!Story.Sick)
                Thread.Sleep(25);
        }
        Story.Say("write_cpu_s", written);
        Story.Say("write_share", written / Cpu.OfProcess);
        Story.Say("lines", lines);
    }

    [MethodImpl(NoInlining)]
    static void Write(int number)
    {
        if (Story.Sick)
            Story.Sink += Environment.StackTrace.Length;
        // The clock is read for each line, which costs nothing to speak of.
        if (Story.Trap)
            Story.Sink += DateTime.UtcNow.Ticks;
        Story.Sink += number;
    }
}

// A tiny method, which the compiler may put into its caller, is run without end.
static class Money
{
    static readonly long[] cents = Enumerable.Range(0, 4096).Select(i => (long)i * 7).ToArray();
    static double summed;

    public static void Go()
    {
        while (Story.Goes)
        {
            int scale = Story.Healthy ? 1 : 8;
            double before = Cpu.OfThread;
            Story.Sink += Sum((Story.Sick ? 300 : 30) * scale);
            summed += Cpu.OfThread - before;
            int n = 60_000 * scale;
            Story.Sink += Book(n) + Check(n) + Round(n) + Print(n) + Send(n);
            if (Story.Healthy)
                Thread.Sleep(30);
        }
        Story.Say("sum_cpu_s", summed);
        Story.Say("sum_share", summed / Cpu.OfProcess);
    }

    [MethodImpl(NoInlining)]
    static long Sum(int times)
    {
        long sum = 0;
        for (int k = 0; k < times; k++)
            foreach (long c in cents)
                sum = Add(sum, c);
        return sum;
    }

    static long Add(long sum, long c) => (sum * 31 + c) % 1_000_003;

    [MethodImpl(NoInlining)] static long Book(int n) { long x = 1; for (int i = 0; i < n; i++) x = (x * 31 + i) % 1_000_003; return x; }
    [MethodImpl(NoInlining)] static long Check(int n) { long x = 2; for (int i = 0; i < n; i++) x = (x * 33 + i) % 1_000_003; return x; }
    [MethodImpl(NoInlining)] static long Round(int n) { long x = 3; for (int i = 0; i < n; i++) x = (x * 35 + i) % 1_000_003; return x; }
    [MethodImpl(NoInlining)] static long Print(int n) { long x = 4; for (int i = 0; i < n; i++) x = (x * 37 + i) % 1_000_003; return x; }
    [MethodImpl(NoInlining)] static long Send(int n) { long x = 5; for (int i = 0; i < n; i++) x = (x * 39 + i) % 1_000_003; return x; }
}
