#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that errors are thrown by Error::raise(), so that an exception is of the class of its code (API/Errors.h).

Prints each `throw Error(...)`, and each `throw f(...)` of a function that returns an Error, of include/ and lib/ as
file:line. Exits 1 if there is any. Run by ctest as `throws`.

usage: check_throws.py [ROOT]
"""
import re
import sys
from pathlib import Path

# `throw;`, and classes that are no meshloom::Error or that say their code, are right.
PLAIN = re.compile(r"\bthrow\s+((\w+::)*Error\s*[({]|[a-z_]\w*\s*[(<.-])")


def check(root):
    found = []
    for folder in ("include", "lib"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in (".cpp", ".h"):
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                code = line.split("//")[0]
                if PLAIN.search(code):
                    found.append(f"{file.relative_to(root)}:{number}: expected Error(...).raise(), got: {code.strip()}")
    return found


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = check(root)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
