// What is allocated, what survives, and what is never let go. An entry of 900 letters takes 952 bytes.

sealed class Entry
{
    public readonly byte[] Text;
    public Entry(int size) => Text = new byte[size];
}

// A static list that only grows, beside much that dies at once.
static class Audit
{
    static readonly List<Entry> entries = new();
    static readonly Queue<Entry> recent = new();
    static long kept;

    public static void Go()
    {
        long most = Story.Trap ? 120_000_000 : 400_000_000;
        while (Story.Goes)
        {
            for (int i = 0; i < 600; i++)
            {
                Handle();
                // The trap fills a cache once and keeps it: it stops growing after a second or so.
                if (Story.Sick || Story.Trap)
                {
                    if (kept < most)
                        for (int k = 0; k < (Story.Trap ? 3 : 1); k++)
                            Remember();
                }
                else
                    Rotate();
            }
            Thread.Sleep(20);
        }
        Story.Say("kept_bytes", kept);
        Story.Say("kept_count", entries.Count + recent.Count);
    }

    [MethodImpl(NoInlining)]
    static void Handle()
    {
        for (int i = 0; i < 4; i++)
            Story.Use(new Entry(900));
    }

    [MethodImpl(NoInlining)]
    static void Remember()
    {
        Entry entry = new(900);
        entries.Add(entry);
        kept += 928 + 24 + 8;
    }

    [MethodImpl(NoInlining)]
    static void Rotate()
    {
        recent.Enqueue(new Entry(900));
        if (recent.Count > 2000)
            recent.Dequeue();
    }
}

// Closed screens stay subscribed to a static event.
sealed class Screen
{
    readonly byte[] pixels = new byte[20_000];

    [MethodImpl(NoInlining)]
    public void OnTick(object? sender, EventArgs e) => Story.Sink += pixels[0];
}

static class Screens
{
    static event EventHandler? Ticked;
    static int opened, subscribed;

    public static void Go()
    {
        List<Screen> panels = new();
        if (Story.Trap)
            // A few that live as long as the program, subscribed once.
            for (int i = 0; i < 10; i++)
            {
                panels.Add(new Screen());
                Ticked += panels[^1].OnTick;
                subscribed++;
            }
        while (Story.Goes)
        {
            for (int i = 0; i < 40; i++)
                if (Story.Trap)
                    Story.Use(new Screen());
                else
                    Open();
            if (opened % 400 == 0)
                Ticked?.Invoke(null, EventArgs.Empty);
            Thread.Sleep(20);
        }
        GC.KeepAlive(panels);
        Story.Say("subscribed", subscribed);
        Story.Say("kept_bytes", subscribed * 20_112.0);
    }

    [MethodImpl(NoInlining)]
    static void Open()
    {
        Screen screen = new();
        opened++;
        Ticked += screen.OnTick;
        subscribed++;
        if (Story.Healthy)
        {
            Ticked -= screen.OnTick;
            subscribed--;
        }
    }
}

// Requests register with a token that lives as long as the program, and never take their registration back.
sealed class Request
{
    readonly byte[] body = new byte[8000];
    long cancelled;

    [MethodImpl(NoInlining)] public void Cancel() => cancelled += body.Length;
}

static class Requests
{
    static readonly CancellationTokenSource shutdown = new();
    static long served, kept;

    public static void Go()
    {
        while (Story.Goes)
        {
            for (int i = 0; i < 120; i++)
                Serve();
            Thread.Sleep(20);
        }
        Story.Say("served", served);
        Story.Say("kept", kept);
        Story.Say("kept_bytes", kept * 8056.0);
    }

    [MethodImpl(NoInlining)]
    static void Serve()
    {
        Request request = new();
        served++;
        if (Story.Sick)
        {
            shutdown.Token.Register(request.Cancel);
            kept++;
        }
        else if (Story.Healthy)
            using (shutdown.Token.Register(request.Cancel))
                Story.Use(request);
        else
        {
            // The trap's token lives no longer than its request.
            using CancellationTokenSource own = new();
            own.Token.Register(request.Cancel);
            Story.Use(request);
        }
    }
}

// Frames of half a megabyte each are kept: few objects, much memory.
static class Frames
{
    static readonly List<byte[]> kept = new();
    static long bytes;

    public static void Go()
    {
        if (Story.Trap)
            // All of it at once in the beginning, and never more.
            for (int i = 0; i < 400; i++)
                Keep();
        byte[] reused = new byte[500_000];
        while (Story.Goes)
        {
            for (int i = 0; i < 4; i++)
                if (Story.Sick)
                    Keep();
                else
                    reused.AsSpan().Fill(3);
            Thread.Sleep(25);
        }
        Story.Say("kept_bytes", bytes);
        Story.Say("kept_count", kept.Count);
    }

    [MethodImpl(NoInlining)]
    static void Keep()
    {
        byte[] frame = new byte[500_000];
        frame.AsSpan().Fill(3);
        kept.Add(frame);
        bytes += frame.Length;
    }
}

// A buffer of a megabyte for each page, thrown away after it.
static class Exports
{
    static readonly byte[] buffer = new byte[1 << 20];
    static long pages, large;

    public static void Go()
    {
        while (Story.Goes)
        {
            for (int i = 0; i < 10; i++)
            {
                Page();
                Row();
                pages++;
            }
            Thread.Sleep(20);
        }
        Story.Say("pages", pages);
        Story.Say("large_bytes", large);
    }

    [MethodImpl(NoInlining)]
    static void Page()
    {
        // The trap's are large as well, but below the limit of large objects.
        byte[] page = Story.Sick ? new byte[1 << 20] : Story.Trap ? new byte[80_000] : buffer;
        page[pages % page.Length] = 1;
        Story.Use(page);
        if (Story.Sick)
            large += page.Length + 24;
    }

    [MethodImpl(NoInlining)] static void Row() => Story.Use(new byte[2000]);
}

// Small buffers are pinned for as long as their connections live, spread all over the heap.
static class Sockets
{
    static readonly List<GCHandle> pins = new();
    static readonly List<byte[]> owned = new();
    static long pinned;

    public static void Go()
    {
        if (Story.Healthy)
            for (int i = 0; i < 2000; i++)
                owned.Add(GC.AllocateArray<byte>(1024, pinned: true));
        while (Story.Goes)
        {
            for (int i = 0; i < 4000; i++)
            {
                Serve();
                if (Story.Sick && i % 200 == 0)
                    Rent();
                if (Story.Trap && i % 200 == 0)
                    Send(new byte[1024]);
            }
            Thread.Sleep(20);
        }
        GCMemoryInfo last = GC.GetGCMemoryInfo(GCKind.Any);
        Story.Say("pins", pinned);
        Story.Say("pinned_objects_at_last_gc", last.PinnedObjectsCount);
        Story.Say("fragmented_bytes_at_last_gc", last.FragmentedBytes);
        GC.KeepAlive(owned);
    }

    [MethodImpl(NoInlining)] static void Serve() => Story.Use(new byte[900]);

    [MethodImpl(NoInlining)]
    static void Rent()
    {
        pins.Add(GCHandle.Alloc(new byte[1024], GCHandleType.Pinned));
        pinned++;
    }

    // Pinned for a microsecond.
    [MethodImpl(NoInlining)]
    static void Send(byte[] piece)
    {
        GCHandle handle = GCHandle.Alloc(piece, GCHandleType.Pinned);
        Story.Sink += handle.AddrOfPinnedObject() != 0 ? 1 : 0;
        handle.Free();
        pinned++;
    }
}

// Temporary files are cleaned up by finalizers, each of which takes its time.
sealed class TempFile : IDisposable
{
    public static readonly Total Finalized = new();
    readonly byte[] name = new byte[2000];

    ~TempFile()
    {
        double before = Story.Time;
        if (Story.Sick)
            Thread.Sleep(10);
        else
            Story.Sink += name.Length;
        Finalized.Add(Story.Time - before);
    }

    public void Dispose() => GC.SuppressFinalize(this);
}

static class TempFiles
{
    static long made;

    public static void Go()
    {
        while (Story.Goes)
        {
            for (int i = 0; i < 1200; i++)
            {
                if (i % 60 == 0)
                    Make();
                Garbage();
            }
            Thread.Sleep(20);
        }
        Story.Say("made", made);
        TempFile.Finalized.Say("finalized");
    }

    // The trap has as many finalizers, but they do next to nothing.
    [MethodImpl(NoInlining)]
    static void Make()
    {
        TempFile file = new();
        made++;
        if (Story.Healthy)
            file.Dispose();
    }

    [MethodImpl(NoInlining)] static void Garbage() => Story.Use(new byte[2000]);
}

// Orders wait in a queue just long enough to be promoted, and die in the oldest generation.
static class Window
{
    static readonly Queue<Entry> orders = new();
    static readonly List<Entry> cache = new();
    static long passed;
    static int depth;

    public static void Go()
    {
        depth = Story.Sick ? 60_000 : 50;
        if (Story.Trap)
            // Promoted, too, but once, and they stay.
            for (int i = 0; i < 60_000; i++)
                cache.Add(new Entry(900));
        while (Story.Goes)
        {
            for (int i = 0; i < 2000; i++)
                Push();
            Thread.Sleep(20);
        }
        Story.Say("passed_bytes", passed * 952.0);
        Story.Say("passed_count", passed);
        Story.Say("window_bytes", Math.Min(passed, depth) * 952.0);
        GC.KeepAlive(cache);
    }

    [MethodImpl(NoInlining)]
    static void Push()
    {
        orders.Enqueue(new Entry(900));
        if (orders.Count > depth)
        {
            Story.Sink += orders.Dequeue().Text.Length;
            passed++;
        }
    }
}

// Collects after every request.
static class Cleanup
{
    static readonly List<Entry> held = Enumerable.Range(0, 40_000).Select(i => new Entry(900)).ToList();
    static long asked;
    static readonly Total collecting = new();

    public static void Go()
    {
        // The trap asks once, after its start.
        if (Story.Trap)
            AfterRequest();
        while (Story.Goes)
        {
            for (int i = 0; i < 100; i++)
                Story.Use(new Entry(900));
            Story.Sink += Story.Grind(2_000_000);
            if (Story.Sick)
                AfterRequest();
            Thread.Sleep(20);
        }
        GC.KeepAlive(held);
        Story.Say("asked", asked);
        collecting.Say("collecting");
    }

    [MethodImpl(NoInlining)]
    static void AfterRequest()
    {
        double before = Story.Time;
        GC.Collect();
        collecting.Add(Story.Time - before);
        asked++;
    }
}

// A long text, line by line by +=.
static class Poem
{
    static long concatenated, poems;

    public static void Go()
    {
        while (Story.Goes)
        {
            for (int i = 0; i < 3; i++)
            {
                Compose();
                poems++;
            }
            Thread.Sleep(25);
        }
        Story.Say("concatenated_bytes", concatenated);
        Story.Say("poems", poems);
    }

    [MethodImpl(NoInlining)]
    static void Compose()
    {
        if (Story.Sick)
        {
            string text = "";
            for (int i = 0; i < 500; i++)
            {
                text += "roses are red, violets are blue\n";
                concatenated += text.Length * 2 + 22;
            }
            Story.Sink += text.Length;
        }
        else if (Story.Healthy)
        {
            StringBuilder text = new(20_000);
            for (int i = 0; i < 500; i++)
                text.Append("roses are red, violets are blue\n");
            Story.Sink += text.Length;
        }
        else
            // Short texts, few of them.
            for (int i = 0; i < 50; i++)
            {
                string line = "line " + poems + "\n";
                concatenated += line.Length * 2 + 22;
                Story.Sink += line.Length;
            }
    }
}

// Numbers are kept as objects.
static class Measures
{
    static readonly List<long> numbers = new(1000);
    static readonly List<object> mixed = new(1000);
    static long boxed;

    public static void Go()
    {
        while (Story.Goes)
        {
            for (int k = 0; k < 400; k++)
            {
                if (Story.Sick)
                    AddBoxed();
                else
                    AddPlain();
            }
            // The trap boxes a little now and then.
            if (Story.Trap && boxed < 2000)
            {
                mixed.Clear();
                mixed.Add((long)Story.Sink);
                boxed++;
            }
            Thread.Sleep(20);
        }
        Story.Say("boxed", boxed);
        Story.Say("boxed_bytes", boxed * 24.0);
    }

    [MethodImpl(NoInlining)]
    static void AddBoxed()
    {
        mixed.Clear();
        for (long i = 0; i < 1000; i++)
            mixed.Add(i);
        boxed += 1000;
    }

    [MethodImpl(NoInlining)]
    static void AddPlain()
    {
        numbers.Clear();
        for (long i = 0; i < 1000; i++)
            numbers.Add(i);
        Story.Sink += numbers.Count;
    }
}

// A delegate and what it captures, for each element.
static class Finder
{
    static readonly int[] items = Enumerable.Range(0, 50).ToArray();
    static readonly Func<int, int, bool> above = static (item, limit) => item > limit;
    static long closures, called;

    public static void Go()
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        // The trap has a closure, too: one, which is called millions of times.
        int most = Environment.ProcessorCount + 20;
        Func<int, bool> captured = item => item > most;
        while (Story.Goes)
        {
            for (int i = 0; i < (Story.Sick ? 200_000 : 20_000); i++)
                Story.Sink += Story.Sick ? Match(i & 31) : Story.Trap ? First(captured) : MatchKept(i & 31);
            Thread.Sleep(25);
        }
        Story.Say("closures", closures);
        Story.Say("closure_bytes", Story.Sick ? GC.GetAllocatedBytesForCurrentThread() - before : 0);
        Story.Say("called", called);
    }

    [MethodImpl(NoInlining)]
    static int Match(int limit)
    {
        closures++;
        return First(item => item > limit);
    }

    static int First(Func<int, bool> wanted)
    {
        foreach (int item in items)
            if (wanted(item))
                return item;
        return -1;
    }

    // A delegate that captures nothing.
    [MethodImpl(NoInlining)]
    static int MatchKept(int limit)
    {
        called++;
        foreach (int item in items)
            if (above(item, limit))
                return item;
        return -1;
    }
}
