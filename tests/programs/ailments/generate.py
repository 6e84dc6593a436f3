"""Prints Generated.cs: methods enough for the compiler to be busy with at the start, each called once."""

COUNT, GROUP, LINES = 6000, 100, 24


def body(i: int) -> str:
    lines = (
        f"x{k % 6} = x{(k + 1) % 6} * {i % 97 + k + 3} + x{(k + 2) % 6} / {k + 2} - (x{(k + 3) % 6} ^ {i + k}); "
        f"if (x{k % 6} > {i * 7 + k}) x{k % 6} -= {k + 11};"
        for k in range(LINES)
    )
    return " ".join(lines)


names = ", ".join(f"x{k} = n + {k}" for k in range(6))
total = " + ".join(f"x{k}" for k in range(6))
print("public static class Generated {")
for i in range(COUNT):
    print(f"  public static long M{i}(long n) {{ long {names}; {body(i)} return {total}; }}")
for j in range(COUNT // GROUP):
    calls = " ".join(f"s += M{i}(n);" for i in range(j * GROUP, (j + 1) * GROUP))
    print(f"  static long All{j}(long n) {{ long s = 0; {calls} return s; }}")
groups = " ".join(f"s += All{j}(n);" for j in range(COUNT // GROUP))
print(f"  public static long All(long n) {{ long s = 0; {groups} return s; }}\n}}")
