#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the README, the other pages of the root and docs/ without running a program:

  - links lead to files of the repository, and to headings in them
  - every page of docs/ is linked from docs/index.md
  - the README has at most 120 lines
  - JSON blocks are JSON
  - docs/Environment.md names every environment variable that lib/ and tools/ read or set

  check_pages.py ROOT
"""
import json
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.S | re.M)
JSON_BLOCK = re.compile(r"^```json\n(.*?)^```", re.S | re.M)
VARIABLE = re.compile(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"')


def variables_of(source):
    """Names in calls of getenv and setenv, also by a constant of the file."""
    if "getenv" not in source and "setenv" not in source:
        return set()
    return {name for line in source.splitlines() for name in VARIABLE.findall(line)
            if "env(" in line or "Variable" in line}


def anchors_of(page):
    """The anchors of a page's headings, as GitHub makes them."""
    found, in_code = [], False
    for line in page.read_text().splitlines():
        in_code ^= line.startswith("```")
        if not in_code and (heading := re.match(r"#+ (.*)", line)):
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            anchor = re.sub(r"[^\w -]", "", words).replace(" ", "-")
            found.append(f"{anchor}-{found.count(anchor)}" if anchor in found else anchor)
    return found


def main():
    root = pathlib.Path(sys.argv[1])
    problems = []
    pages = [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]
    index = root / "docs/index.md"
    linked = {(index.parent / link).resolve() for link, _ in LINK.findall(index.read_text())}
    for page in pages:
        if page.is_relative_to(index.parent) and page != index and page.resolve() not in linked:
            problems.append(f"docs/index.md does not link {page.relative_to(root)}")
    lines = (root / "README.md").read_text().count("\n")
    if lines > 120:
        problems.append(f"README.md has {lines} lines, and may have 120: put what is new into docs/")
    for page in pages:
        text, name = page.read_text(), page.relative_to(root)
        for link, anchor in LINK.findall(CODE.sub("", text)):
            target = page.parent / link if link else page
            if re.match(r"[a-z]+:", link):
                continue
            if not target.exists():
                problems.append(f"{name}: nothing is at the link ({link})")
            elif anchor and target.suffix == ".md" and anchor not in anchors_of(target):
                problems.append(f"{name}: {target.name} has no heading for ({link}#{anchor})")
        for block in JSON_BLOCK.findall(text):
            try:
                json.loads(block)
            except ValueError as error:
                problems.append(f"{name}: a JSON block is none: {error}\n{block}")
    environment = (root / "docs/Environment.md").read_text()
    read = {}
    for folder in ("lib", "tools"):
        for path in sorted((root / folder).rglob("*.cpp")):
            for variable in variables_of(path.read_text()):
                read.setdefault(variable, path.relative_to(root))
    for variable, path in sorted(read.items()):
        if f"`{variable}`" not in environment:
            problems.append(f"docs/Environment.md does not name {variable} ({path})")
    print("\n".join([*problems, f"{len(pages)} pages, {len(read)} variables, {len(problems)} problems"]))
    sys.exit(bool(problems) or not read)


if __name__ == "__main__":
    main()
