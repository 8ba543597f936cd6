#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the op and pass reference, docs/Ops and docs/Passes, from the .td files.

    scripts/make_reference_docs.py           write them
    scripts/make_reference_docs.py --check   only fail if a checked-in file is not current

mlir-tblgen does the work; what it writes is tidied where Markdown needs it.
"""

import argparse
import difflib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIALECTS = {
    "DTensor": "dtensor",
    "SPMD": "spmd",
}


def tblgen_path():
    for name in ("mlir-tblgen-19", "/usr/lib/llvm-19/bin/mlir-tblgen"):
        if found := shutil.which(name):
            return found
    sys.exit("make_reference_docs.py: mlir-tblgen of LLVM 19 is not installed "
             "(scripts/install-dependencies installs it)")


def tblgen(arguments, source):
    """Runs mlir-tblgen on a file, and returns what it wrote."""
    return subprocess.run(
        [tblgen_path(), *arguments, "-I", "/usr/lib/llvm-19/include",
         "-I", str(ROOT / "mlir-dialects/include"), "-I", str(ROOT / "include"),
         str(source)],
        check=True, capture_output=True, text=True).stdout


def tidy(text):
    """Markdown that renders: no [TOC], blank lines around headings, no
    trailing spaces, and no row that GitHub would cut."""
    text = text.replace("[TOC]\n", "")
    lines, in_code = [], False
    for line in (line.rstrip() for line in text.splitlines()):
        in_code ^= line.startswith("```")
        heading = not in_code and re.match(r"#+ ", line)
        if heading and lines and lines[-1]:
            lines.append("")
        if line or (lines and lines[-1]):
            lines.append(line)
        if heading:
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def definitions(name):
    """A file with all ops of a dialect."""
    folder = f"meshloom/Dialect/{name}"
    files = [f"{name}Ops.td", f"{name}CallbackOps.td", f"{name}MapOps.td"]
    lines = [f'include "{folder}/{file}"\n' for file in files
             if (ROOT / "mlir-dialects/include" / folder / file).exists()]
    path = pathlib.Path(tempfile.mkdtemp()) / f"{name}.td"
    path.write_text("".join(lines))
    return path


def documents():
    """Path and content of every generated file."""
    for name, dialect in DIALECTS.items():
        text = tblgen(["-gen-dialect-doc", f"-dialect={dialect}"], definitions(name))
        yield ROOT / f"docs/Ops/{name}.md", tidy(text)
    for source in sorted((ROOT / "include/meshloom").rglob("Passes.td")):
        layer = source.parent.name
        text = f"# Passes of {layer}\n\n" + tblgen(["-gen-pass-doc"], source)
        yield ROOT / f"docs/Passes/{layer}.md", tidy(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = 0
    for path, text in documents():
        old = path.read_text() if path.exists() else ""
        if old == text:
            continue
        stale += 1
        if check:
            sys.stdout.writelines(difflib.unified_diff(
                old.splitlines(True), text.splitlines(True),
                f"{path.relative_to(ROOT)} (checked in)", "(generated)", n=1))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"wrote {path.relative_to(ROOT)}")
    if check and stale:
        sys.exit("make_reference_docs.py: not current; run scripts/make_reference_docs.py "
                 "(or the target meshloom-doc) and commit what it writes")


if __name__ == "__main__":
    main()
