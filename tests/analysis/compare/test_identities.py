"""Names that the compiler numbers anew are matched; names that differ in anything else are not."""

from __future__ import annotations

import pytest

from clrevents.analysis.compare.measured import identities, without_numbers

MATCHED = [
    # The C# compiler: iterators and async methods, local functions, captured variables, lambdas.
    ("App!P+<Read>d__3.MoveNext()", "App!P+<Read>d__7.MoveNext()"),
    ("App!P.<Main>g__Pay|2_0(int32)", "App!P.<Main>g__Pay|5_1(int32)"),
    ("App!P+<>c__DisplayClass3_0.<Main>b__0()", "App!P+<>c__DisplayClass4_0.<Main>b__0()"),
    ("App!P+<>c.<Main>b__3_0(int32)", "App!P+<>c.<Main>b__9_0(int32)"),
    ("App!P+<>c__3`1[System.__Canon].<Of>b__3_0()", "App!P+<>c__4`1[System.__Canon].<Of>b__4_0()"),
    ("App!P+<<Main>g__Pay|0_1>d.MoveNext()", "App!P+<<Main>g__Pay|0_2>d.MoveNext()"),
    # mcs.
    ("App!P+<Main>c__AnonStorey2.<>m__0()", "App!P+<Main>c__AnonStorey5.<>m__0()"),
    ("App!P+<Read>c__Iterator0.MoveNext()", "App!P+<Read>c__Iterator1.MoveNext()"),
]
DIFFERENT = [
    ("App!P.Pay()", "App!P.Play()"),
    ("App!P.Pay(int32)", "App!P.Pay(int64)"),
    ("App!P+<Read>d__3.MoveNext()", "App!P+<Write>d__3.MoveNext()"),
    ("App!P.<Main>g__Pay|2_0(int32)", "App!P.<Main>g__Play|2_0(int32)"),
    ("App!List`1[int32].Add()", "App!List`1[System.__Canon].Add()"),
    ("App!P.Step1()", "App!P.Step2()"),
]


@pytest.mark.parametrize(("base", "new"), MATCHED)
def test_matched(base: str, new: str) -> None:
    found = identities([base], [new])
    assert found[base] == found[new]


@pytest.mark.parametrize(("base", "new"), DIFFERENT)
def test_told_apart(base: str, new: str) -> None:
    found = identities([base], [new])
    assert found[base] != found[new]


def test_lambdas_of_a_member_are_told_apart_by_their_places() -> None:
    base = [f"App!P+<>c.<Main>b__3_{place}()" for place in range(3)]
    new = [f"App!P+<>c.<Main>b__4_{place}()" for place in range(3)]
    found = identities(base, new)
    assert [found[name] for name in base] == [found[name] for name in new]
    assert len({found[name] for name in base}) == 3


def test_where_a_lambda_was_added_those_of_its_member_are_one() -> None:
    """Which of three was there before cannot be told by name."""
    base = [f"App!P+<>c.<Main>b__3_{place}()" for place in range(2)]
    new = [f"App!P+<>c.<Main>b__3_{place}()" for place in range(3)]
    assert len(set(identities(base, new).values())) == 1


def test_lambdas_of_another_member_stay_apart() -> None:
    found = identities(["App!P+<>c.<A>b__1_0()", "App!P+<>c.<B>b__2_0()"], ["App!P+<>c.<B>b__1_0()"])
    assert found["App!P+<>c.<A>b__1_0()"] != found["App!P+<>c.<B>b__1_0()"]
    assert found["App!P+<>c.<B>b__2_0()"] == found["App!P+<>c.<B>b__1_0()"]


def test_ordinary_names_are_left_alone() -> None:
    name = "System.Private.CoreLib!System.Array.Copy(class System.Array,int32)"
    assert without_numbers(name) == (name, "")


def test_two_compilers() -> None:
    """mcs on .NET 8, csc on .NET 10: all lambdas of a member are one, and so are the steps of an async method."""
    mcs = [
        "App!App+<Cpu>c__AnonStorey9.<>m__0()",
        "App!App+<Cpu>c__AnonStorey9+<Cpu>c__AnonStoreyA.<>m__0()",
        "App!App.<Main>m__0(class System.Object)",
        "App!App+<Read>c__async3.MoveNext()",
        "App!App+<Only>c__AnonStorey1.<>m__0()",
    ]
    csc = [
        "App!App+<>c__DisplayClass17_0.<Cpu>b__0()",
        "App!App+<>c__DisplayClass17_1.<Cpu>b__1()",
        "App!App+<>c.<Main>b__4_0(class System.Object)",
        "App!App+<Read>d__8.MoveNext()",
    ]
    found = identities(mcs, csc)
    assert [found[name] for name in mcs[:4]] == [
        "App!App.<Cpu> lambdas", "App!App.<Cpu> lambdas", "App!App.<Main> lambdas", "App!App.<Read> steps",
    ]  # fmt: skip
    assert [found[name] for name in csc] == [found[name] for name in mcs[:4]]
    # What one compiler made of both is told apart as before, and what one side lacks stays what it is.
    assert found[mcs[4]] == identities([mcs[4]], [])[mcs[4]]
    same = identities(mcs, mcs)
    assert len(set(same.values())) == len(mcs)
