#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the tables of the PJRT C API, AbiTables.inc, from Slots.txt and Structs.txt.

    scripts/make_pjrt_tables.py           write it
    scripts/make_pjrt_tables.py --check   only fail if the checked-in file is not current
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FACTS = ROOT / "lib/Runtime/Backends/PJRT"
TABLES = ROOT / "include/meshloom/Runtime/Backends/PJRT/AbiTables.inc"
FIRST_SLOT_OFFSET = 40
POINTER_BYTES = 8


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


def read_structs():
    structs = {}
    for where, (name, size, stride, *fields) in lines_of("Structs.txt"):
        offsets = {}
        for field in fields:
            match = re.fullmatch(r"([a-z]\w*)@(\d+)", field)
            if not match or int(match.group(2)) >= int(size):
                sys.exit(f"{where}: '{field}' is no field of {size} bytes")
            offsets[match.group(1)] = int(match.group(2))
        if plain(name) in structs or not int(size) <= int(stride) < int(size) + POINTER_BYTES:
            sys.exit(f"{where}: {name} is there twice, or its sizes do not fit")
        structs[plain(name)] = (int(size), int(stride), offsets)
    return structs


def tables():
    slots, structs = read_slots(), read_structs()
    text = ["// Made by scripts/make_pjrt_tables.py from Slots.txt and Structs.txt of",
            "// lib/Runtime/Backends/PJRT: change those. Included by Abi.h only.", "",
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
        text += [f"  static constexpr size_t {field} = {offset};"
                 for field, offset in fields.items()]
        text += ["};"]
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = tables()
    if not arguments.check:
        TABLES.write_text(text)
    elif not TABLES.exists() or TABLES.read_text() != text:
        sys.exit(f"{TABLES.relative_to(ROOT)} is not what scripts/make_pjrt_tables.py "
                 "makes: run it")


if __name__ == "__main__":
    main()
