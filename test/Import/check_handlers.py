# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every op of StableHLO, chlo and sdy that we read is run by a test, or named
in docs/StableHLO.md as refused.

    check_handlers.py SOURCE
"""

import pathlib
import re
import sys


def ops(folder: pathlib.Path) -> set[str]:
    """The names of all ops that the dialects' .td files define."""
    dialects = {"StableHLO": "stablehlo", "CHLO": "chlo", "Sdy": "sdy", "Mpmd": "mpmd"}
    found = set()
    for path in folder.glob("*Ops.td"):
        dialect = next(
            name for file, name in dialects.items() if path.name.startswith(file)
        )
        for name in re.findall(
            r'^def \w+Op\s*:\s*\w+<\s*"(\w+)"', path.read_text(), re.MULTILINE
        ):
            found.add(f"{dialect}.{name}")
    return found


def is_run(path: pathlib.Path, text: str) -> bool:
    """Whether a test runs the program: by mesh-run, successfully."""
    return "Cases" in path.parts or bool(
        re.search(r"// RUN:(?!.*\bnot mesh-run).*\bmesh-run", text)
    )


def main() -> int:
    source = pathlib.Path(sys.argv[1])
    every = ops(
        source / "mlir-dialects/include/meshloom/Dialect/StableHLO"
    )
    ran = set()
    for path in (source / "test").rglob("*.mlir"):
        text = path.read_text(errors="replace")
        if is_run(path, text):
            ran |= set(re.findall(r"\b(?:stablehlo|chlo|sdy|mpmd)\.\w+", text))
    page = (source / "docs/StableHLO.md").read_text()
    refused = set(re.findall(r"`(\w+)`", page))
    missing = sorted(
        name for name in every - ran if name.split(".")[1] not in refused
    )
    for name in missing:
        print(f"{name}: no test runs it, and docs/StableHLO.md does not refuse it")
    print(f"{len(every)} ops, {len(every & ran)} of them run by tests")
    return bool(missing) or not every


if __name__ == "__main__":
    sys.exit(main())
