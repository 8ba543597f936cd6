#!/usr/bin/env python3
"""What can be checked of the README and of docs/ without running a program:

  - links to files of the repository lead somewhere
  - JSON blocks are JSON
  - docs/Environment.md names every environment variable that lib/ and tools/ read or set

  check_pages.py ROOT
"""
import json
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
JSON_BLOCK = re.compile(r"^```json\n(.*?)^```", re.S | re.M)
VARIABLE = re.compile(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"')


def variables_of(source):
    """Names in calls of getenv and setenv, also by a constant of the file."""
    if "getenv" not in source and "setenv" not in source:
        return set()
    return {name for line in source.splitlines() for name in VARIABLE.findall(line)
            if "env(" in line or "Variable" in line}


def main():
    root = pathlib.Path(sys.argv[1])
    problems = []
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    for page in pages:
        text, name = page.read_text(), page.relative_to(root)
        for link in LINK.findall(text):
            if not re.match(r"[a-z]+:", link) and not (page.parent / link).exists():
                problems.append(f"{name}: nothing is at the link ({link})")
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
