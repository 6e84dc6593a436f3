"""The message of https://github.com/google/pprof/blob/main/proto/profile.proto for protobuf's own library.

A table of fields instead of the file, so that no compiler is needed; `tests/export/test_pprof.py` decodes with it.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

# name: {number: (field, type)}; `*` repeats, `+` is a message.
MESSAGES: Final = {
    "ValueType": {1: "type int64", 2: "unit int64"},
    "Label": {1: "key int64", 2: "str int64", 3: "num int64", 4: "num_unit int64"},
    "Sample": {1: "*location_id uint64", 2: "*value int64", 3: "*label +Label"},
    "Mapping": {
        1: "id uint64",
        2: "memory_start uint64",
        3: "memory_limit uint64",
        4: "file_offset uint64",
        5: "filename int64",
        6: "build_id int64",
        7: "has_functions bool",
        8: "has_filenames bool",
        9: "has_line_numbers bool",
        10: "has_inline_frames bool",
    },
    "Line": {1: "function_id uint64", 2: "line int64"},
    "Location": {1: "id uint64", 2: "mapping_id uint64", 3: "address uint64", 4: "*line +Line", 5: "is_folded bool"},
    "Function": {
        1: "id uint64",
        2: "name int64",
        3: "system_name int64",
        4: "filename int64",
        5: "start_line int64",
    },
    "Profile": {
        1: "*sample_type +ValueType",
        2: "*sample +Sample",
        3: "*mapping +Mapping",
        4: "*location +Location",
        5: "*function +Function",
        6: "*string_table string",
        7: "drop_frames int64",
        8: "keep_frames int64",
        9: "time_nanos int64",
        10: "duration_nanos int64",
        11: "period_type +ValueType",
        12: "period int64",
        13: "*comment int64",
        14: "default_sample_type int64",
    },
}


def profile_class() -> Any:
    """The class of the outermost message. Skips the asking module where protobuf is missing."""
    pb = pytest.importorskip("google.protobuf.descriptor_pb2", reason="needs protobuf")
    from google.protobuf import descriptor_pool, message_factory

    file = pb.FileDescriptorProto(name="profile.proto", package="perftools.profiles", syntax="proto3")
    kinds = pb.FieldDescriptorProto
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, text in fields.items():
            field, kind = text.removeprefix("*").split()
            made = message.field.add(name=field, number=number)
            made.label = kinds.LABEL_REPEATED if text.startswith("*") else kinds.LABEL_OPTIONAL
            if kind.startswith("+"):
                made.type, made.type_name = kinds.TYPE_MESSAGE, f".perftools.profiles.{kind[1:]}"
            else:
                made.type = getattr(kinds, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("perftools.profiles.Profile"))
