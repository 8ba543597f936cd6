#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""axes_of_one.py MESH_OPT FOLDER...: axes of one device cost nothing.

Every program below the folders (StableHLO with Shardy, or dtensor) is partitioned twice under
machine=ring: as it is, and with axes of one device in its meshes, in front, between and behind
the others. They are used, too: dims that were whole are cut over them, pending sums are
pending over one of them as well, and manual computations are over one more. What mesh-opt
--explain says of collectives and bytes must be the same, word for word.
"""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ONE = "one_{}"


def with_ones(axes, text):
    """Axes "a = 2" of a mesh, with axes of one around them; `text` is how one is written."""
    result = [text.format(ONE.format(0))]
    for i, axis in enumerate(axes):
        result += [axis, text.format(ONE.format(i + 1))]
    return ", ".join(result)


def cut_over_ones(dims, whole, text, count):
    """Dims of a layout, those that are `whole` cut over axes of one, each over another one."""
    free = iter(range(count))
    result = []
    for dim in dims:
        number = next(free, None) if dim == whole else None
        result.append(dim if number is None else text.format(ONE.format(number)))
    return result


def shardy(text):
    counts = [len(re.findall('"=', axes)) for axes in re.findall(r"sdy\.mesh @\w+ = <\[([^\]]*)\]", text)]
    if not counts:
        return None
    # One axis of one is left for manual computations.
    count = min(counts)

    def mesh(match):
        axes = re.findall(r'"[^"]+"=\d+', match.group(2))
        return match.group(1) + with_ones(axes, '"{}"=1') + match.group(3)

    def sharding(match):
        dims = re.findall(r"\{[^}]*\}(?:p\d+)?", match.group(2))
        return match.group(1) + ", ".join(cut_over_ones(dims, "{}", '{{"{}"}}', count)) + match.group(3)

    text = re.sub(r'( \{stablehlo\.mesh = \{axes = \[[^\]]*\]\}\})', "", text)
    text = re.sub(r"(sdy\.mesh @\w+ = <\[)([^\]]*)(\])", mesh, text)
    text = re.sub(r"(<@\w+, \[)([^\]]*)(\])", sharding, text)
    # Not of those inside of others, whose axes are manual already.
    return re.sub(r'^(    \S.* manual_axes=\{"[^}]*)\}', rf'\1, "{ONE.format(count)}"}}', text,
                  flags=re.MULTILINE)


def dtensor(text):
    meshes = re.findall(r"dtensor\.mesh<([^>]*)>", text)
    if not meshes:
        return None
    count = min(mesh.count("=") for mesh in meshes)
    # A constant of several numbers is written whole.
    isCut = not re.search(r"dtensor\.constant dense<\[.*#", text)

    def layout(match):
        dims = [dim.strip() for dim in re.findall(r"\{[^}]*\}|[^,\s]+", match.group(2))]
        end = match.group(3)
        kind = re.search(r"partial<[^:>]*: (\w+)", end)
        if kind:
            end = end.replace("partial<", f"partial<{ONE.format(count)}: {kind.group(1)}, ")
        return match.group(1) + ", ".join(cut_over_ones(dims, "*", "{}", count if isCut else 0)) + end

    text = re.sub(r"dtensor\.mesh<([^>]*)>",
                  lambda m: "dtensor.mesh<" + with_ones(m.group(1).split(", "), "{} = 1") + ">", text)
    return re.sub(r"(dtensor\.layout<[#!\w.<>= ,]*?, \[)([^\]]*)(\](?: partial<[^>]*>)?)", layout, text)


def explained(tool, text, foreign):
    passes = (["--stablehlo-to-dtensor"] if foreign else []) + ["--dtensor-partition=machine=ring", "--explain"]
    done = subprocess.run([tool, "-", "-o", os.devnull, *passes], input=text, capture_output=True, text=True)
    # The text of a layout, and its reason, name the program's own axes.
    lines = [line for line in done.stderr.splitlines() if re.match(r"@|  \d+\. ", line)]
    return (lines, "") if done.returncode == 0 else (None, done.stderr)


def check(tool, path):
    """Nothing where there is nothing to compare, else what is wrong, or ""."""
    with open(path) as file:
        text = file.read()
    if "split-input-file" in text:
        return None
    foreign = "sdy.mesh" in text
    changed = shardy(text) if foreign else dtensor(text)
    if changed is None:
        return None
    before, problem = explained(tool, text, foreign)
    if before is None: # a program that needs another pass first
        return None
    after, problem = explained(tool, changed, foreign)
    if after is None:
        return problem
    return "" if before == after else "\n".join(["was", *before, "is", *after])


def main():
    tool, folders = sys.argv[1], sys.argv[2:]
    paths = [os.path.join(root, name) for folder in folders for root, _, names in os.walk(folder)
             for name in sorted(names) if name.endswith(".mlir")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(paths, pool.map(lambda path: check(tool, path), paths)))
    compared = {path: result for path, result in results.items() if result is not None}
    for path, result in compared.items():
        if result:
            print(f"{path}: {result}")
    wrong = sum(bool(result) for result in compared.values())
    print(f"{len(compared)} programs compared, {wrong} differ")
    sys.exit(wrong > 0 or not compared)


if __name__ == "__main__":
    main()
