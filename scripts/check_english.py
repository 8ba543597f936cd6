#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts, in each room, names that say nothing and half sentences, against
scripts/english_limits.json: no count may rise.

  check_english.py                 fails where a count is above its limit
  check_english.py --list [ROOM]   prints every finding, as file:line
  check_english.py --write         lowers the limits to today's counts

A name is counted where C++, TableGen or Python declares it and it is one of
NAMES, except for the names of an API in API_NAMES. A half sentence begins, in a
comment or on a page of docs/, with a word that leaves out its subject: "Of the
function.", "What it takes.", "That of the result."
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMITS = ROOT / "scripts/english_limits.json"

NAMES = "made|what|each|at|own|known|given|kept|it|all|rest|left|how|said|Made|Of"
# Names that users call, as NumPy and the standard library have them.
API_NAMES = {
    "include/meshloom/API/Index.h": {"all"},
    "include/meshloom/API/Ops.h": {"all"},
    "include/meshloom/Core/Result.h": {"what"},
    "include/meshloom/NN/Config.h": {"at"},
    "include/meshloom/NN/Training/Logs.h": {"at"},
}
# A type, or the end of a template's arguments, and then the name that it declares.
NO_TYPE = "return|else|throw|case|new|delete|goto|co_return|co_yield|operator|not|and|or|in|using|namespace"
DECLARED = re.compile(
    rf"(?:\b(?!(?:{NO_TYPE})\b)[A-Za-z_]\w*|(?<=\S)>)\s+[&*]{{0,2}}({NAMES})\b\s*(?=[=;,(){{:\[])")
# TableGen's: the descriptions of records are prose.
TABLEGEN = re.compile(rf"\b(?:string|int|bit|code|dag|list<\w+>)\s+({NAMES})\b")
BINDING = re.compile(r"\bauto\s*&{0,2}\s*\[([^\]]*)\]")
PYTHON = re.compile(rf"^\s*(?:for\s+.*\b)?({NAMES})\b(?:,\s*\w+)*\s*(?:=(?!=)|in\b)")

HALF = re.compile(r"(?:^|(?<=[.!?] ))(?:Of|That of|Those|What)\b|^(?:As|That)\b")
FOLDERS = ("benchmark", "docs", "examples", "include", "lib", "mlir-dialects", "scripts", "test", "tools")
SUFFIXES = {".h", ".cpp", ".td", ".py", ".md"}
# Pages that a script or a test writes.
GENERATED = re.compile(r"docs/(?:Ops/|Passes/|CommandLine|Faults|Matrix|Performance|Pipeline|Reference)")


def room_of(path):
    """The folder that a file is counted for."""
    parts = path.split("/")
    if parts[0] == "include":
        return "/".join(parts[:3]) if len(parts) > 3 else "include/meshloom"
    if parts[0] in ("lib", "test", "tools"):
        return "/".join(parts[:2]) if len(parts) > 2 else parts[0]
    return parts[0] if len(parts) > 1 else "."


def split_line(line, mark):
    """Code without texts, and the comment of a line; the comment is None where
    the line has none."""
    code = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line)
    position = code.find(mark)
    if position < 0:
        return code, None
    return code[:position], code[position:].lstrip("/#<! ").rstrip()


def findings_of_source(path, text):
    """Line, kind and word of each finding in C++, TableGen or Python."""
    is_python = path.endswith(".py")
    previous = ""
    for number, line in enumerate(text.splitlines(), 1):
        code, comment = split_line(line, "#" if is_python else "//")
        if is_python:
            found = PYTHON.findall(code)
        elif path.endswith(".td"):
            found = TABLEGEN.findall(code)
        else:
            found = DECLARED.findall(code)
            for names in BINDING.findall(code):
                found += re.findall(rf"\b({NAMES})\b", names)
        for name in found:
            if name not in API_NAMES.get(path, ()):
                yield number, "names", name
        if comment and comment.startswith("SPDX-"):
            comment = None
        if comment:
            # A line goes on with the sentence of the line before it.
            starts = not previous or previous.endswith((".", "!", "?"))
            sentence = comment if starts else "x" + comment
            for half in HALF.findall(sentence):
                yield number, "sentences", half
        previous = comment if comment and not code.strip() else ""


def findings_of_page(text):
    """Line, kind and word of each half sentence of a Markdown page."""
    in_code, previous = False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        if in_code or line.startswith(("```", "#")):
            previous = ""
            continue
        for cell in line.split("|") if line.startswith("|") else [line]:
            words = re.sub(r"^\s*(?:[*-] |\d+\. )?[*_]*", "", cell)
            item = re.match(r"\s*(?:[*-] |\d+\. )", cell)
            starts = not previous or bool(item) or line.startswith("|") or previous.endswith((".", "!", "?"))
            for half in HALF.findall(words if starts else "x" + words):
                # "What is ...?" is a whole question.
                if not (half == "What" and "?" in words):
                    yield number, "sentences", half
        previous = line.strip()


def findings():
    """File, line, kind and word of each finding."""
    files = [*ROOT.glob("*.md")]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES and path.is_file()]
    for path in sorted(file.relative_to(ROOT).as_posix() for file in files):
        if path.startswith("benchmark/peers/") or path == "scripts/check_english.py":
            continue
        text = (ROOT / path).read_text(encoding="utf-8")
        if not path.endswith(".md"):
            found = findings_of_source(path, text)
        elif GENERATED.match(path):
            continue
        else:
            found = findings_of_page(text)
        for number, kind, word in found:
            yield path, number, kind, word


def main():
    counts = {}
    wanted = sys.argv[sys.argv.index("--list") + 1 :] if "--list" in sys.argv else None
    for path, number, kind, word in findings():
        room = counts.setdefault(room_of(path), {"names": 0, "sentences": 0})
        room[kind] += 1
        if wanted is not None and (not wanted or room_of(path) in wanted):
            print(f"{path}:{number}: {kind[:-1]} '{word}'")
    if wanted is not None:
        return
    limits = json.loads(LIMITS.read_text()) if LIMITS.exists() else None
    if "--write" in sys.argv:
        for room, kinds in counts.items():
            for kind in kinds:
                if limits is not None:
                    kinds[kind] = min(kinds[kind], limits.get(room, {}).get(kind, 0))
        rows = [f'  "{room}": {json.dumps(counts[room])}' for room in sorted(counts)]
        LIMITS.write_text("{\n" + ",\n".join(rows) + "\n}\n")
        return
    above = [f"{room}: {count} {kind}, and {limits.get(room, {}).get(kind, 0)} are allowed; "
             f"scripts/check_english.py --list {room} shows them"
             for room, kinds in sorted(counts.items()) for kind, count in kinds.items()
             if count > limits.get(room, {}).get(kind, 0)]
    total = {kind: sum(kinds[kind] for kinds in counts.values()) for kind in ("names", "sentences")}
    print("\n".join(above) or f"english: {total['names']} names and {total['sentences']} half sentences, as allowed")
    sys.exit(bool(above))


if __name__ == "__main__":
    main()
