// Threads that wait: for each other, for time, for files, processes and servers.

// Few places of a semaphore, held while a slow partner is asked.
static class Warehouse
{
    static readonly SemaphoreSlim places = new(Story.Healthy ? 6 : 1);
    static readonly SemaphoreSlim parcels = new(0);
    static readonly Total waited = new(), idle = new();

    public static void Go()
    {
        if (!Story.Trap)
            Story.Together(6, Clerk);
        else
        {
            // Workers wait for parcels that seldom come: nothing is held up.
            for (int i = 0; i < 3; i++)
                Story.Start(Packer, $"packer {i}");
            while (Story.Goes)
            {
                Thread.Sleep(250);
                parcels.Release();
            }
        }
        waited.Say("waited");
        idle.Say("idle");
    }

    static void Clerk()
    {
        while (Story.Goes)
        {
            Reserve();
            Thread.Sleep(25);
        }
    }

    [MethodImpl(NoInlining)]
    static void Reserve()
    {
        double before = Story.Time;
        places.Wait();
        waited.Add(Story.Time - before);
        try
        {
            AskPartner();
        }
        finally
        {
            places.Release();
        }
    }

    [MethodImpl(NoInlining)] static void AskPartner() => Thread.Sleep(40);

    static void Packer()
    {
        while (true)
        {
            double before = Story.Time;
            parcels.Wait();
            idle.Add(Story.Time - before);
            Story.Sink += Story.Grind(300_000);
        }
    }
}

// A gate that opens for all and closes again: eight threads stand before it most of the time.
static class Turnstile
{
    static readonly ManualResetEvent gate = new(false), closing = new(false);
    static readonly Total waited = new();
    static volatile bool over;

    public static void Go()
    {
        if (Story.Trap)
        {
            // Parked until the program ends, as they should be.
            for (int i = 0; i < 4; i++)
                Story.Start(WatchEnd, $"watch {i}");
            Story.Idle();
            closing.Set();
        }
        else
        {
            Thread keeper = Story.Start(Keep, "keeper");
            Story.Together(8, Visitor);
            over = true;
            keeper.Join();
        }
        waited.Say("waited");
    }

    static void Keep()
    {
        while (!over)
        {
            gate.Set();
            Thread.Sleep(5);
            if (Story.Sick)
                gate.Reset();
            CountVisitors();
        }
        gate.Set();
    }

    [MethodImpl(NoInlining)] static void CountVisitors() => Thread.Sleep(200);

    static void Visitor()
    {
        while (Story.Goes)
        {
            Pass();
            Thread.Sleep(40);
        }
    }

    [MethodImpl(NoInlining)]
    static void Pass()
    {
        double before = Story.Time;
        gate.WaitOne();
        waited.Add(Story.Time - before);
        Interlocked.Add(ref Story.Sink, Story.Grind(50_000));
    }

    static void WatchEnd() => closing.WaitOne();
}

// A writer keeps the readers of a reader-writer lock away.
static class Catalogue
{
    static readonly ReaderWriterLockSlim door = new();
    static readonly Total waited = new(), held = new();

    public static void Go()
    {
        if (!Story.Trap)
            Story.Start(Keeper, "keeper");
        Story.Together(4, Reader);
        waited.Say("waited");
        held.Say("held");
    }

    static void Keeper()
    {
        while (Story.Goes)
        {
            Rebuild();
            Thread.Sleep(Story.Sick ? 10 : 200);
        }
    }

    [MethodImpl(NoInlining)]
    static void Rebuild()
    {
        door.EnterWriteLock();
        double before = Story.Time;
        try
        {
            if (Story.Sick)
                Reload();
            else
                Story.Sink++;
        }
        finally
        {
            held.Add(Story.Time - before);
            door.ExitWriteLock();
        }
    }

    [MethodImpl(NoInlining)] static void Reload() => Thread.Sleep(80);

    static void Reader()
    {
        while (Story.Goes)
        {
            Find();
            Thread.Sleep(25);
        }
    }

    // In the trap readers hold the lock long, together: nobody waits.
    [MethodImpl(NoInlining)]
    static void Find()
    {
        double before = Story.Time;
        door.EnterReadLock();
        waited.Add(Story.Time - before);
        try
        {
            if (Story.Trap)
                Thread.Sleep(50);
            Interlocked.Add(ref Story.Sink, Story.Grind(30_000));
        }
        finally
        {
            door.ExitReadLock();
        }
    }
}

// Threads look every millisecond whether there is mail.
static class Mailbox
{
    static int mail;
    static readonly AutoResetEvent arrived = new(false);
    static readonly Total slept = new();
    static long polls;

    public static void Go()
    {
        if (Story.Trap)
            Story.Start(Heartbeat, "heartbeat");
        else
            for (int i = 0; i < 3; i++)
                Story.Start(Story.Sick ? Poll : Listen, $"reader {i}");
        while (Story.Goes)
        {
            Thread.Sleep(500);
            Volatile.Write(ref mail, 1);
            arrived.Set();
        }
        slept.Say("slept");
        Story.Say("polls", Interlocked.Read(ref polls));
    }

    [MethodImpl(NoInlining)]
    static void Poll()
    {
        while (Story.Goes)
        {
            double before = Story.Time;
            Thread.Sleep(1);
            slept.Add(Story.Time - before);
            Interlocked.Increment(ref polls);
            if (Interlocked.CompareExchange(ref mail, 0, 1) == 1)
                Interlocked.Add(ref Story.Sink, Story.Grind(100_000));
        }
    }

    static void Listen()
    {
        while (true)
        {
            arrived.WaitOne();
            Interlocked.Add(ref Story.Sink, Story.Grind(100_000));
        }
    }

    // Sleeps by design: once a second it says that it lives.
    static void Heartbeat()
    {
        while (true)
        {
            Story.Sink += Story.Grind(10_000);
            Thread.Sleep(1000);
        }
    }
}

// Every session has a timer of its own that fires a hundred times a second.
static class Sessions
{
    static long fired;

    public static void Go()
    {
        List<Timer> timers = new();
        if (Story.Sick)
            for (int i = 0; i < 200; i++)
                timers.Add(new Timer(CheckExpiry, i, 10, 10));
        else if (Story.Healthy)
            timers.Add(new Timer(CheckAll, null, 500, 500));
        while (Story.Goes)
        {
            Thread.Sleep(40);
            // Time-outs of requests that are answered in time: they never fire.
            if (Story.Trap)
                for (int i = 0; i < 200; i++)
                    new Timer(CheckExpiry, i, 3_600_000, -1).Dispose();
        }
        foreach (Timer timer in timers)
            timer.Dispose();
        Story.Say("fired", Interlocked.Read(ref fired));
    }

    [MethodImpl(NoInlining)]
    static void CheckExpiry(object? session)
    {
        Interlocked.Increment(ref fired);
        Interlocked.Add(ref Story.Sink, Story.Grind(5_000));
    }

    static void CheckAll(object? state)
    {
        Interlocked.Increment(ref fired);
        Interlocked.Add(ref Story.Sink, Story.Grind(200_000));
    }
}

// Every mail is sent by a thread made for it.
static class Mailer
{
    static int started;

    public static void Go()
    {
        if (Story.Sick)
            while (Story.Goes)
            {
                Send();
                Thread.Sleep(2);
            }
        else if (Story.Healthy)
        {
            BlockingCollection<int> queue = new();
            Story.Start(() => { foreach (int mail in queue.GetConsumingEnumerable()) Deliver(); }, "sender");
            started = 1;
            while (Story.Goes)
            {
                for (int i = 0; i < 12; i++)
                    queue.Add(1);
                Thread.Sleep(25);
            }
        }
        else
        {
            // Many threads, but they live as long as the program.
            started = 20;
            Story.Together(20, () => { while (Story.Goes) { Deliver(); Thread.Sleep(50); } });
        }
        Story.Say("threads_started", started);
    }

    [MethodImpl(NoInlining)]
    static void Send()
    {
        Thread thread = new(Deliver);
        thread.Start();
        started++;
        thread.Join();
    }

    [MethodImpl(NoInlining)] static void Deliver() => Interlocked.Add(ref Story.Sink, Story.Grind(200_000));
}

// Two threads take two locks in opposite order and never move again.
static class Transfer
{
    static readonly object giro = new(), savings = new();
    static readonly Total waited = new();
    static double stuckAt;

    public static void Go()
    {
        Thread one = Story.Start(Deposit, "deposit"), two = Story.Start(Story.Sick ? Withdraw : Story.Healthy ? Deposit : Inspect, "withdraw");
        Story.Idle();
        if (Story.Sick)
        {
            Story.Say("stuck_s", 2 * (Story.Time - stuckAt));
            Story.Tell();
            Environment.Exit(0);
        }
        one.Join();
        two.Join();
        Story.Say("stuck_s", 0);
        waited.Say("waited");
    }

    static void Deposit()
    {
        if (Story.Trap)
        {
            // Holds one lock for two seconds, which ends.
            lock (giro)
                Thread.Sleep(2000);
            return;
        }
        while (Story.Goes)
        {
            if (Story.Sick && Story.Time > 1)
                MoveToSavings();
            else
                lock (giro)
                    lock (savings)
                        Story.Sink += Story.Grind(20_000);
            Thread.Sleep(30);
        }
    }

    [MethodImpl(NoInlining)]
    static void MoveToSavings()
    {
        lock (giro)
        {
            stuckAt = Story.Time + 0.3;
            Thread.Sleep(300);
            lock (savings)
                Story.Sink++;
        }
    }

    static void Withdraw()
    {
        while (Story.Goes)
        {
            if (Story.Time > 1)
                MoveToGiro();
            Thread.Sleep(5);
        }
    }

    [MethodImpl(NoInlining)]
    static void MoveToGiro()
    {
        lock (savings)
        {
            Thread.Sleep(300);
            lock (giro)
                Story.Sink++;
        }
    }

    static void Inspect()
    {
        Thread.Sleep(200);
        double before = Story.Time;
        lock (giro)
            waited.Add(Story.Time - before);
    }
}

// Main waits for an answer that nobody will give.
static class Delivery
{
    static readonly TaskCompletionSource<int> answer = new(TaskCreationOptions.RunContinuationsAsynchronously);
    static double began;

    public static void Go()
    {
        Story.Start(Courier, "courier");
        if (Story.Trap)
        {
            // Waits for the end of work that is being done.
            Thread[] workers = { Story.Start(Story.Idle, "one"), Story.Start(Story.Idle, "two") };
            foreach (Thread worker in workers)
                worker.Join();
            Story.Say("stuck_s", 0);
            return;
        }
        if (Story.Sick)
            Story.Start(GiveUp, "watchdog");
        began = Story.Time;
        Story.Sink += AwaitAnswer();
        Story.Say("stuck_s", 0);
        Story.Idle();
    }

    [MethodImpl(NoInlining)] static int AwaitAnswer() => answer.Task.GetAwaiter().GetResult();

    static void Courier()
    {
        try
        {
            Thread.Sleep(200);
            if (Story.Sick)
                throw new InvalidOperationException("nobody at home");
            answer.TrySetResult(1);
        }
        catch (InvalidOperationException)
        {
            // Forgotten: whoever waits is not told.
        }
    }

    static void GiveUp()
    {
        Thread.Sleep(TimeSpan.FromSeconds(Story.Seconds - Story.Time));
        Story.Say("stuck_s", Story.Time - began);
        Story.Tell();
        Environment.Exit(0);
    }
}

// Six threads add to one total under one lock, all the time.
static class Tally
{
    static readonly object gate = new();
    static readonly Total waited = new();
    static long records;

    public static void Go()
    {
        if (Story.Trap)
            // Short, frequent and by one thread only: nobody ever waits for it.
            while (Story.Goes)
            {
                for (int i = 0; i < 250_000; i++)
                    Note();
                Thread.Sleep(25);
            }
        else
            Story.Together(6, Counter);
        waited.Say("waited");
        Story.Say("records", records);
    }

    static void Counter()
    {
        double sum = 0;
        while (Story.Goes)
        {
            if (Story.Sick)
                for (int i = 0; i < 50; i++)
                    sum += Record();
            else
            {
                Interlocked.Add(ref Story.Sink, Story.Grind(200_000));
                Thread.Sleep(30);
            }
        }
        waited.Add(sum);
    }

    [MethodImpl(NoInlining)]
    static double Record()
    {
        double waiting = 0;
        bool taken = false;
        try
        {
            // The clock is read only by those who wait.
            if (!(taken = Monitor.TryEnter(gate)))
            {
                double before = Story.Time;
                Monitor.Enter(gate, ref taken);
                waiting = Story.Time - before;
            }
            records++;
            Story.Sink += Update(300_000);
        }
        finally
        {
            if (taken)
                Monitor.Exit(gate);
        }
        return waiting;
    }

    [MethodImpl(NoInlining)] static long Update(int n) { long x = 1; for (int i = 0; i < n; i++) x = x * 31 + i; return x; }

    [MethodImpl(NoInlining)] static void Note() { lock (gate) records++; }
}

// One method holds the lock while it writes to a slow disk; those who only ask for the balance wait.
static class Ledger
{
    static readonly object gate = new();
    static readonly Total waited = new(), held = new();
    static long balance;

    public static void Go()
    {
        Story.Start(Bookkeeper, "bookkeeper");
        Story.Together(4, Customer);
        waited.Say("waited");
        held.Say("held");
    }

    static void Bookkeeper()
    {
        while (Story.Goes)
        {
            Append();
            Thread.Sleep(25);
        }
    }

    [MethodImpl(NoInlining)]
    static void Append()
    {
        if (Story.Sick)
            lock (gate)
            {
                double before = Story.Time;
                Flush();
                balance++;
                held.Add(Story.Time - before);
            }
        else
        {
            Flush();
            lock (gate)
                balance++;
        }
    }

    [MethodImpl(NoInlining)] static void Flush() => Thread.Sleep(60);

    // In the trap customers think long, but outside of the lock.
    static void Customer()
    {
        while (Story.Goes)
        {
            Ask();
            Thread.Sleep(Story.Trap ? 80 : 25);
        }
    }

    [MethodImpl(NoInlining)]
    static void Ask()
    {
        double before = Story.Time;
        lock (gate)
        {
            waited.Add(Story.Time - before);
            Story.Sink += balance;
        }
    }
}

// A bounded queue is full because its consumer is slow.
static class Crawler
{
    static readonly BlockingCollection<int> queue = new(10);
    static readonly Total blocked = new();
    static long taken;

    public static void Go()
    {
        Thread consumer = Story.Start(Index, "indexer");
        while (Story.Goes)
        {
            Interlocked.Add(ref Story.Sink, Story.Grind(300_000));
            Offer();
            if (!Story.Sick)
                Thread.Sleep(Story.Trap ? 300 : 40);
        }
        queue.CompleteAdding();
        consumer.Join();
        blocked.Say("blocked");
        Story.Say("taken", taken);
    }

    [MethodImpl(NoInlining)]
    static void Offer()
    {
        double before = Story.Time;
        queue.Add(1);
        blocked.Add(Story.Time - before);
    }

    // In the trap it waits most of the time, since there is little to do.
    static void Index()
    {
        foreach (int page in queue.GetConsumingEnumerable())
        {
            Store();
            taken++;
        }
    }

    [MethodImpl(NoInlining)]
    static void Store()
    {
        if (Story.Sick)
            Thread.Sleep(25);
        Interlocked.Add(ref Story.Sink, Story.Grind(20_000));
    }
}

// A file is read byte by byte without a buffer: a call of the system for each.
static class Archive
{
    static readonly Total read = new();
    static double cpu;
    static long calls;

    public static void Go()
    {
        string path = Path.GetTempFileName();
        using (FileStream file = new(path, FileMode.Create))
            file.SetLength(16 << 20);
        try
        {
            while (Story.Goes)
            {
                double before = Story.Time, from = Cpu.OfThread;
                Load(path);
                read.Add(Story.Time - before);
                cpu += Cpu.OfThread - from;
                if (!Story.Sick)
                    Thread.Sleep(100);
                Story.Sink += Story.Grind(500_000);
            }
        }
        finally
        {
            File.Delete(path);
        }
        read.Say("load");
        Story.Say("load_cpu_s", cpu);
        Story.Say("load_share", cpu / Cpu.OfProcess);
        Story.Say("reads", calls);
    }

    [MethodImpl(NoInlining)]
    static void Load(string path)
    {
        using FileStream file = new(path, FileMode.Open, FileAccess.Read, FileShare.Read, Story.Healthy ? 65536 : 0);
        byte[] piece = new byte[Story.Trap ? 1 << 16 : 8];
        int wanted = Story.Trap ? 64 : 100_000;
        for (int i = 0; i < wanted; i++)
        {
            Story.Sink += file.Read(piece, 0, piece.Length);
            calls++;
        }
    }
}

// Each file is converted by a program of its own, for which the caller waits.
static class Converter
{
    static readonly Total waited = new();

    public static void Go()
    {
        if (Story.Sick)
            while (Story.Goes)
            {
                Convert("0.6");
                Story.Sink += Story.Grind(5_000_000);
            }
        else
        {
            // In the trap a thread keeps watch over a process; nobody waits for that thread.
            if (Story.Trap)
                Story.Start(Supervise, "supervisor");
            Story.Idle();
        }
        waited.Say("waited");
    }

    [MethodImpl(NoInlining)]
    static void Convert(string seconds)
    {
        double before = Story.Time;
        using Process child = Process.Start(new ProcessStartInfo("sleep", seconds))!;
        child.WaitForExit();
        waited.Add(Story.Time - before);
    }

    static void Supervise()
    {
        using Process child = Process.Start(new ProcessStartInfo("sleep", (Story.Seconds - 0.5).ToString(CultureInfo.InvariantCulture)))!;
        child.WaitForExit();
    }
}

// Quotes come from a server that takes its time, one after the other.
static class Quotes
{
    static readonly Total waited = new();
    static readonly TcpListener server = new(IPAddress.Loopback, 0);

    public static void Go()
    {
        server.Start();
        Story.Start(Serve, "server");
        int port = ((IPEndPoint)server.LocalEndpoint).Port;
        using TcpClient client = new();
        client.Connect(IPAddress.Loopback, port);
        client.NoDelay = true;
        NetworkStream stream = client.GetStream();
        while (Story.Goes)
        {
            Fetch(stream);
            Story.Sink += Story.Grind(2_000_000);
            if (!Story.Sick)
                Thread.Sleep(Story.Trap ? 500 : 50);
        }
        waited.Say("waited");
    }

    [MethodImpl(NoInlining)]
    static void Fetch(NetworkStream stream)
    {
        double before = Story.Time;
        stream.WriteByte(1);
        Story.Sink += stream.ReadByte();
        waited.Add(Story.Time - before);
    }

    // Waits for requests, which in the trap are rare: as a server should.
    static void Serve()
    {
        using TcpClient caller = server.AcceptTcpClient();
        caller.NoDelay = true;
        NetworkStream stream = caller.GetStream();
        while (stream.ReadByte() >= 0)
        {
            if (Story.Sick)
                Thread.Sleep(250);
            stream.WriteByte(2);
        }
    }
}
