#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/CommandLine.md: the help texts of the tools.

  make_command_doc.py BUILD            writes it
  make_command_doc.py BUILD --check    fails where it is not what would be written
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/CommandLine.md"

TOOLS = {
    "mesh-run": "Runs a program: text in the dtensor dialect, StableHLO with Shardy annotations, or a saved program.",
    "mesh-launch": "Starts a program several times, as the ranks of one run.",
    "mesh-coordinator": "Runs the coordination service alone, for programs that a different launcher starts several times.",
    "mesh-sim": "Runs a saved program as several processes would, on simulated networks.",
    "mesh-fuzz": "Compares random programs with the reference interpreter ([Fuzzing.md](Fuzzing.md)).",
    "mnist_mlp": "The tutorial: trains an MLP on digits ([GettingStarted.md](GettingStarted.md)).",
}
# Options of ours among the hundreds that every tool like mlir-opt has.
OPT_OPTIONS = ("--auto-layout", "--contract=", "--emit-portable-artifact", "--explain", "--function=", "--machine=", "--mesh=", "--predict", "--reconsider",
               "--suggest", "--target=", "--timing", "--tpu-library=", "--update-contract", "--version", "--what-if=", "-o ")


def run(tool, *arguments):
    return subprocess.run([tool, *arguments], capture_output=True, text=True, check=True).stdout


def usage(text):
    """The help of a tool. CLI11 lists what an option excludes in an order that
    differs from build to build."""
    def sort(match):
        return match[1] + " ".join(sorted(match[2].split()))

    lines = [re.sub(r"(Excludes: )(.*)", sort, line.rstrip()) for line in text.splitlines()]
    return "\n".join(lines).strip()


def option_of_mesh_opt(text):
    found = []
    for line in text.splitlines():
        # The options of passes are further in.
        if re.match("  -", line) and line.strip().startswith(OPT_OPTIONS):
            name, _, words = line.strip().partition(" - ")
            found.append(f"| `{name.strip()}` | {words.strip()} |")
    return found


def page(build):
    text = ["# Command line", "",
            "Written by scripts/make_command_doc.py from what the tools print with `--help`; do not edit.", ""]
    for tool, words in TOOLS.items():
        path = build / "bin" / tool
        text += [f"## {tool}", "", words, "", "```", usage(run(path, "--help")), "```", ""]
    text += ["## mesh-opt", "",
             "Reads a module, runs the passes that its options name, and prints the result: upstream's `mlir-opt` with our dialects",
             "and passes ([Passes](Passes) lists their options). `mesh-opt --help` lists everything. Our own options are:", "",
             "| option | meaning |", "|---|---|"]
    text += option_of_mesh_opt(run(build / "bin/mesh-opt", "--help"))
    return "\n".join(text) + "\n"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    wanted = page(build)
    if "--check" not in sys.argv[2:]:
        PAGE.write_text(wanted)
        return
    if not PAGE.exists() or PAGE.read_text() != wanted:
        sys.exit(f"docs/CommandLine.md is not current: run scripts/make_command_doc.py {build}")


if __name__ == "__main__":
    main()
