"""Display names: a table of real ones, and that any text gives a text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.symbols.display_names import display_name, display_type, made_up, method_name, raw_name

# All of these but the last few stand in traces of .NET Core 2.0 to .NET 10, made by three compilers.
NAMES = [
    (
        ("System.String", "Concat", "class System.String  (class System.String,class System.String)"),
        "System.String.Concat(string, string)",
    ),
    (("System.RuntimeType+RuntimeTypeCache", ".ctor", "instance void  (class System.RuntimeType)"),
     "System.RuntimeType.RuntimeTypeCache..ctor(RuntimeType)"),
    (("System.Collections.Generic.List`1[System.__Canon]", "Add", "instance void  (!0)"),
     "System.Collections.Generic.List<__Canon>.Add(__Canon)"),
    (("System.Collections.Generic.Dictionary`2+KeyCollection+Enumerator[System.Guid,System.Int32]", "MoveNext",
      "instance bool  ()"),
     "System.Collections.Generic.Dictionary<Guid, int>.KeyCollection.Enumerator.MoveNext()"),
    (("System.Collections.Generic.List`1", "Add", "instance void  (!0)"),
     "System.Collections.Generic.List<T0>.Add(T0)"),
    (("System.Buffer", "Memmove", "generic void  (!!0&,!!0&,unsigned int)"),
     "System.Buffer.Memmove<M0>(ref M0, ref M0, nuint)"),
    (("System.Activator", "CreateInstance", "generic class System.Object  ()"), "System.Activator.CreateInstance<>()"),
    (("System.RuntimeType", "GetGenericArgumentsInternal", "instance class System.RuntimeType[]  ()"),
     "System.RuntimeType.GetGenericArgumentsInternal()"),
    (("Jagged", "M", "void  (int32[][],class System.String[]&,unsigned int8*,void**,int32[0...,0...])"),
     "Jagged.M(int[][], ref string[], byte*, void**, int[,])"),
    (("System.RuntimeTypeHandle", "GetActivationInfo",
      "void  (class System.RuntimeType,fnptr class System.Object(void*)&,void*&,"
      "fnptr void(class System.Object)&,bool&)"),
     "System.RuntimeTypeHandle.GetActivationInfo(RuntimeType, ref delegate*<void*, object>, ref void*, "
     "ref delegate*<object, void>, ref bool)"),
    (("System.Diagnostics.Tracing.NoOpEventProvider", "System.Diagnostics.Tracing.IEventProvider.EventWriteTransfer",
      "instance value class WriteEventErrorCode  (int64,required_modifier System.Runtime.InteropServices.InAttribute "
      "value class System.Diagnostics.Tracing.EventDescriptor&,int)"),
     "System.Diagnostics.Tracing.NoOpEventProvider.System.Diagnostics.Tracing.IEventProvider.EventWriteTransfer"
     "(long, in EventDescriptor, nint)"),
    (("System.Reflection.FieldInfo", "SetValueDirect", "instance void  (refany,class System.Object)"),
     "System.Reflection.FieldInfo.SetValueDirect(TypedReference, object)"),
    # Async methods and iterators.
    (("Program+<Work>d__22", "MoveNext", "instance void  ()"), "Program.Work(...)"),
    (("Program+<Work>c__async0", "MoveNext", "instance void  ()"), "Program.Work(...)"),
    (("Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol+<ProcessRequests>d__237`1[System.__Canon]",
      "MoveNext", "instance void  ()"),
     "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol.ProcessRequests(...)"),
    (("System.IO.Stream+<<ReadAsync>g__FinishReadAsync|44_0>d", "MoveNext", "instance void  ()"),
     "System.IO.Stream.ReadAsync.FinishReadAsync(...)"),
    (("Microsoft.CodeAnalysis.CSharp.Symbols.NamedTypeSymbol+<Microsoft-Cci-ITypeDefinition-GetFields>d__32",
      "MoveNext", "instance bool  ()"),
     "Microsoft.CodeAnalysis.CSharp.Symbols.NamedTypeSymbol.Microsoft.Cci.ITypeDefinition.GetFields(...)"),
    (("Program+<Work>d__22", "System.IDisposable.Dispose", "instance void  ()"),
     "Program.Work.System.IDisposable.Dispose()"),
    (("System.Linq.Enumerable+<CastIterator>d__34`1[System.Collections.DictionaryEntry]", "<>m__Finally1",
      "instance void  ()"),
     "System.Linq.Enumerable.CastIterator.finally()"),
    # Lambdas and local functions.
    (("Program+<>c", "<Main>b__23_0", "instance void  (int32)"), "Program.Main.lambda_23_0(int)"),
    (("Program+<>c__DisplayClass0_0", "<<Main>$>b__4", "instance class System.Threading.Tasks.Task  (int32)"),
     "Program.Main.lambda_4(int)"),
    (("Program+<Main>c__AnonStorey1", "<>m__0", "instance class System.Threading.Tasks.Task  ()"),
     "Program.Main.lambda_0()"),
    (("Program", "<Contention>m__2", "class System.Threading.Thread  (int32)"), "Program.Contention.lambda_2(int)"),
    (("Program+<>c+<<<Main>$>b__0_3>d", "MoveNext", "instance void  ()"), "Program.Main.lambda_0_3(...)"),
    (("Microsoft.AspNetCore.Http.ParameterBindingMethodCache", "<FindTryParseMethod>g__Finder|18_0",
      "instance class System.Func`3<class A,class B,class C>  (class System.Type)"),
     "Microsoft.AspNetCore.Http.ParameterBindingMethodCache.FindTryParseMethod.Finder(Type)"),
    (("A.CodeWriterExtensions", "<WritePadding>g__CalculatePadding3_0", "int32  (value class <>c__DisplayClass3_0&)"),
     "A.CodeWriterExtensions.WritePadding.CalculatePadding(ref <>c__DisplayClass3_0)"),
    (("Program+<>c", ".ctor", "instance void  ()"), "Program.<>c..ctor()"),
    (("Program", "<Main>$", "class System.Threading.Tasks.Task  (class System.String[])"), "Program.Main(string[])"),
    (("System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1"
      "[System.Threading.Tasks.VoidTaskResult,Program+<Work>d__22]", "MoveNext",
      "instance void  (class System.Threading.Thread)"),
     "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<VoidTaskResult>.AsyncStateMachineBox<Program.Work>"
     ".MoveNext(Thread)"),
    # Code without a type.
    (("dynamicClass", "IL_STUB_PInvoke", "int32  (pMT: 00007FF7E09F4C08,unsigned int8*,pMT: 00007FF7E09F5798&)"),
     "dynamicClass.IL_STUB_PInvoke(?, byte*, ref ?)"),
    (("dynamicClass", "InvokeStub_KeyValuePair`2.get_Key", "class System.Object  (class System.Object,int*)"),
     "dynamicClass.InvokeStub_KeyValuePair`2.get_Key(object, nint*)"),
    (("", "main", ""), "main"),
    # Mono.
    (("Shop.Cart", "Pay", "void(int)"), "Shop.Cart.Pay(int)"),
    (("Shop.Cart", "Pay", "void(string,System.Collections.Generic.List`1<int>)"), "Shop.Cart.Pay(string, List<int>)"),
    (("Shop.Cart", "Pay", "void(byte[,]&,single*,System.Nullable`1<uint16>[],Shop.Cart/Item&,intptr,T_REF)"),
     "Shop.Cart.Pay(ref byte[,], float*, Nullable<ushort>[], ref Item, nint, __Canon)"),
    (("Shop.Cart/<Load>d__3", "MoveNext", "void()"), "Shop.Cart.Load(...)"),
    (("Shop.Cart/<Load>d__3`1<T_REF>", "MoveNext", "void()"), "Shop.Cart.Load(...)"),
    (("Shop.Cart/<>c__DisplayClass4_0", "<Sum>b__0", "int(int)"), "Shop.Cart.Sum.lambda_0(int)"),
    (("System.Collections.Generic.List`1<System.Int32>", "Add", "void(int)"),
     "System.Collections.Generic.List<int>.Add(int)"),
    (("System.Collections.Generic.Dictionary`2/Enumerator<TKey_REF,System.Nullable`1<System.Char>>", "MoveNext",
      "bool()"),
     "System.Collections.Generic.Dictionary<__Canon, Nullable<char>>.Enumerator.MoveNext()"),
    # Visual Basic.
    (("Program+VB$StateMachine_3_Work", "MoveNext", "instance void  ()"), "Program.Work(...)"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "shown"), NAMES, ids=[shown for _, shown in NAMES])
def test_display_names(parts: tuple[str, str, str], shown: str) -> None:
    assert display_name(*parts) == shown


def test_raw_names_are_the_runtimes() -> None:
    signature = "instance void  (class System.String,int32&)"
    assert raw_name("A.B", "C", signature) == "A.B.C(class System.String,int32&)"
    assert raw_name("", "start", "") == "start"
    assert raw_name("Shop.Cart/Item", "Pay", "void(string,int&)") == "Shop.Cart/Item.Pay(string,int&)"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("System.Byte[]", "byte[]"),
        ("System.Int32[,][]", "int[,][]"),
        ("System.Byte*", "byte*"),
        ("System.String&", "ref string"),
        ("A.B`1+C`2[System.Int32,X.Y,System.Collections.Generic.List`1[X.Z]]", "B<int>.C<Y, List<Z>>"),
    ],
)
def test_type_arguments(text: str, shown: str) -> None:
    assert display_type(text) == shown


def test_signature_types_take_the_types_arguments() -> None:
    signature = "instance void  (class System.Collections.Generic.Dictionary`2<!0,!!1>)"
    assert display_name("Box`1[System.Int32]", "Fill", signature) == "Box<int>.Fill(Dictionary<int, M1>)"


def test_given_names_are_not_made_up() -> None:
    assert made_up("Main") is None
    assert made_up("<odd") is None
    assert made_up("<>f__AnonymousType0") is None


words = st.sampled_from(
    ["System.", "List`1", "[", "]", "<", ">", "+", ",", "&", "*", "!0", "!!1", "class ", "value class ", "  (", ")",
     "instance ", "generic ", "void(", "T_REF", "/",
     "d__1", "b__0_1", "g__X|1_0", "c__DisplayClass1_0", "fnptr ", "void", "int32", "[0...]",
     "required_modifier X ", "pMT: 7f", "$", "`9999", "MoveNext", "é", "\0"]
)  # fmt: skip
texts = st.lists(words, max_size=30).map("".join) | st.text(max_size=60)


@given(texts, texts, texts)
def test_any_text_gives_a_text_that_begins_with_the_method(namespace: str, name: str, signature: str) -> None:
    shown = display_name(namespace, name, signature)
    assert shown.startswith(method_name(namespace, name, signature))


@pytest.mark.parametrize("piece", ["<", "[", "A`1[", "<<a>b__0>", "class A`1<", "&", "*", "fnptr void(", "g__1", "-"])
def test_long_texts_take_no_long(piece: str) -> None:
    for count in (300, 1000, 8000):
        text = piece * count
        began = time.process_time()
        display_name(text, text, f"void  ({text})")
        display_name("A", f"<a>{text}", f"void  ({text})")
        display_name(text[:4000], "MoveNext", "instance void  ()")
        assert time.process_time() - began < 2


def test_made_up_names_of_any_length_take_no_long() -> None:
    began = time.process_time()
    for _ in range(30):
        made_up("<a>g__" + "1" * 8000)
    assert time.process_time() - began < 1
