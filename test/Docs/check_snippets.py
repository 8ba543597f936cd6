#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every C++ block of the README and of docs/ stands, line by line, in a program
of test/Docs or examples, which is built and run. Prints the blocks that do not.

  check_snippets.py ROOT
"""
import pathlib
import re
import sys


def lines(text):
    """Without indentation and empty lines, so that a block may be nested."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def main():
    root = pathlib.Path(sys.argv[1])
    programs = {
        path: "\n".join(lines(path.read_text())) + "\n"
        for folder in ("test/Docs", "examples", "test/Install/user")
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in (".cpp", ".h")
    }
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    blocks = missing = 0
    for page in pages:
        for block in re.findall(r"^```cpp\n(.*?)^```", page.read_text(), re.S | re.M):
            blocks += 1
            wanted = "\n".join(lines(block)) + "\n"
            if not any(wanted in program for program in programs.values()):
                missing += 1
                print(f"{page.relative_to(root)}: this block is in no program of test/Docs:\n{block}")
    print(f"{blocks} C++ blocks in {len(pages)} pages, {missing} that no test builds")
    sys.exit(missing > 0 or blocks == 0)


if __name__ == "__main__":
    main()
