#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The output that the README prints of its program is what the program prints:
the same lines, losses to 1 in 1,000 (the last digits differ between CPUs).

  check_output.py ROOT PROGRAM            compares
  check_output.py ROOT PROGRAM --write    puts the program's output there
"""
import pathlib
import re
import subprocess
import sys

LOSS = re.compile(r"loss ([0-9.e+-]+)$")


def same(ours, theirs):
    a, b = LOSS.search(ours), LOSS.search(theirs)
    if not (a and b):
        return ours == theirs
    close = abs(float(a[1]) - float(b[1])) <= 1e-3 * abs(float(a[1]))
    return close and ours[: a.start()] == theirs[: b.start()]


def main():
    page = pathlib.Path(sys.argv[1]) / "README.md"
    printed = subprocess.run(
        [sys.argv[2]], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    text = page.read_text()
    block = re.search(r"^```\n(step 0: loss.*?)^```", text, re.S | re.M)
    if not block:
        sys.exit("README.md has no block that starts with the program's output")
    if "--write" in sys.argv:
        new = "\n".join(printed) + "\n"
        page.write_text(text[: block.start(1)] + new + text[block.end(1) :])
        return
    shown = block[1].splitlines()
    wrong = [
        f"README: {s}\nprogram: {p}"
        for s, p in zip(shown, printed)
        if not same(s, p)
    ]
    if len(shown) != len(printed):
        wrong.append(f"README has {len(shown)} lines, the program {len(printed)}")
    print("\n".join(wrong) or f"{len(shown)} lines are current")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
