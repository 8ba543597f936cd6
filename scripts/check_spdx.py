#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that each source file says its licence in a line that tools read.

  check_spdx.py            fails where a file has no such line, and names it
  check_spdx.py --write    adds the line: at the top, or after the line of #!
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
MARKS = {".h": "//", ".cpp": "//", ".td": "//", ".py": "#", ".cmake": "#", ".sh": "#"}


def mark_of(path):
    """How a comment begins in this file; None for files that need no line."""
    if path.suffix in MARKS:
        return MARKS[path.suffix]
    with path.open("rb") as file:
        return "#" if not path.suffix and file.read(2) == b"#!" else None


def main():
    missing = []
    for name in subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split():
        path = ROOT / name
        mark = mark_of(path) if path.is_file() else None
        if mark is None:
            continue
        text = path.read_text(encoding="utf-8")
        if LINE in "".join(text.splitlines(keepends=True)[:3]):
            continue
        missing.append(name)
        if "--write" in sys.argv[1:]:
            first, rest = "", text
            if text.startswith("#!"):
                first, _, rest = text.partition("\n")
                first += "\n"
            path.write_text(f"{first}{mark} {LINE}\n{rest}", encoding="utf-8")
    if "--write" in sys.argv[1:]:
        print(f"{len(missing)} files got the line")
        return
    for name in missing:
        print(f"{name}: no line '{LINE}'; scripts/check_spdx.py --write adds it")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
