#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the tables of the PJRT C API, AbiTables.inc, from Slots.txt and Structs.txt.

    scripts/make_pjrt_tables.py OUTPUT

The build calls it (lib/Runtime/Backends/PJRT/CMakeLists.txt).
"""

import pathlib
import re
import sys

FACTS = pathlib.Path(__file__).resolve().parent.parent / "lib/Runtime/Backends/PJRT"
FIRST_SLOT_OFFSET = 40
POINTER_BYTES = 8
# The types of Structs.txt: in C++, and their bytes. A struct inside of another one is
# checked as its first field, a size.
TYPES = {None: ("Pointer", 8), "size": ("size_t", 8), "i32": ("int32_t", 4),
         "i64": ("int64_t", 8), "f32": ("float", 4), "bool": ("bool", 1),
         "struct": ("Struct", 8)}


def lines_of(name):
    for number, line in enumerate((FACTS / name).read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            yield f"{name}:{number}", line.split()


def plain(name):
    return name.removeprefix("PJRT_")


def read_slots():
    names = []
    for where, (index, offset, name) in lines_of("Slots.txt"):
        if int(index) != len(names) or int(offset) != FIRST_SLOT_OFFSET + POINTER_BYTES * len(names):
            sys.exit(f"{where}: slot {index} at {offset} is not the next one")
        names.append(plain(name))
    return names


def read_fields(where, size, fields):
    """The fields as (name, C++ type, offset). One begins where the field before it
    has ended, or with it, as the members of a union do."""
    result, start, end = [], 0, 0
    for field in fields:
        match = re.fullmatch(r"([a-z]\w*)@(\d+)(?::(\w+))?", field)
        if not match or match.group(3) not in TYPES:
            sys.exit(f"{where}: '{field}' is not name@offset or name@offset:type")
        offset = int(match.group(2))
        cpp, width = TYPES[match.group(3)]
        if offset % width or offset + width > size or start < offset < end or offset < start:
            sys.exit(f"{where}: '{field}' does not fit after the field before it, or "
                     f"in {size} bytes")
        start, end = offset, offset + width
        result.append((match.group(1), cpp, offset))
    return result


def read_structs():
    structs = {}
    for where, (name, size, stride, *fields) in lines_of("Structs.txt"):
        if plain(name) in structs or not int(size) <= int(stride) < int(size) + POINTER_BYTES:
            sys.exit(f"{where}: {name} is there twice, or its sizes do not fit")
        structs[plain(name)] = (int(size), int(stride), read_fields(where, int(size), fields))
    return structs


def tables():
    slots, structs = read_slots(), read_structs()
    text = ["// Written by scripts/make_pjrt_tables.py from Slots.txt and Structs.txt of",
            "// lib/Runtime/Backends/PJRT. Included by Abi.h only.", "",
            "/// A function of the API, by its place in the table.",
            "enum class Slot : unsigned {"]
    text += [f"  {name} = {index}," for index, name in enumerate(slots)]
    text += ["};", "", f"inline constexpr unsigned knownSlots = {len(slots)};",
             "inline constexpr const char *slotNames[knownSlots] = {"]
    text += [f'    "PJRT_{name}",' for name in slots]
    text += ["};"]
    for name, (size, stride, fields) in structs.items():
        text += ["", f"struct {name} {{",
                 f"  static constexpr size_t structSize = {size}, stride = {stride};"]
        text += [f"  static constexpr Field<{cpp}> {field}{{{offset}}};"
                 for field, cpp, offset in fields]
        text += ["};"]
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[1]).write_text(tables())
