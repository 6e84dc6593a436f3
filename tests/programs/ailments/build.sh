#!/bin/bash
# Builds the programs into FOLDER/8 and FOLDER/3: build.sh FOLDER. Env R3: the folder of .NET Core 3.1 that has `dotnet`.
# mcs reads the assemblies of 3.1 only, which serve .NET 8 as well.
set -eu
HERE=$(cd "$(dirname "$0")" && pwd); OUT=$1; mkdir -p "$OUT/8" "$OUT/3"
F3=$R3/shared/Microsoft.NETCore.App/3.1.23; refs=()
for d in Private.CoreLib Runtime Console Collections Linq Threading Threading.Thread Threading.ThreadPool Threading.Tasks \
  Diagnostics.Tracing Runtime.Extensions Buffers Runtime.InteropServices Reflection.Emit.Lightweight \
  Reflection.Emit.ILGeneration Reflection.Primitives IO.FileSystem Text.RegularExpressions; do refs+=("-r:$F3/System.$d.dll"); done
python3 "$HERE/generate.py" > "$OUT/Generated.cs"
mcs -nologo -warn:0 -optimize+ -nostdlib -noconfig "${refs[@]}" -out:"$OUT/Ailments.exe" "$HERE"/*.cs "$OUT/Generated.cs"
# The closure of `Pick` gets the name that Roslyn gives: as long as mcs' own.
sed -i 's/<Pick>c__AnonStorey[0-9]/<>c__DisplayClass0_0/' "$OUT/Ailments.exe"
cp "$OUT/Ailments.exe" "$OUT/8/Ailments.dll"; cp "$OUT/Ailments.exe" "$OUT/3/Ailments.dll"
config() { echo '{"runtimeOptions": {"tfm": "'$1'", "framework": {"name": "Microsoft.NETCore.App", "version": "'$2'"}, "configProperties": {"System.GC.Server": false, "System.Globalization.Invariant": true}}}'; }
config net8.0 8.0.4 > "$OUT/8/Ailments.runtimeconfig.json"; config netcoreapp3.1 3.1.23 > "$OUT/3/Ailments.runtimeconfig.json"
