# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random JAX programs through mesh-run: results and bytes against JAX's.

  python fuzz_jax.py path/to/mesh-run [--seed=N] [--count=N] [--keep=DIR] [--print]

Program N is the same on every machine (of one version of JAX). It is compiled
and run by JAX on 8 virtual CPUs, and by mesh-run under `ring`; a program whose
results differ, or that sends more than JAX by over 5 %, is printed, and with
--keep written to DIR/N as one of test/Cases. Bytes are what one device sends by
the ring algorithm, see collectives_of. Exit code 0 when there is none of them,
77 (a skip) where JAX is not installed.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import warnings

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "Cases")]
try:
    import jax
    import numpy as np
except ImportError as missing:
    print(f"SKIP: {missing} ({sys.executable}); pip install jax")
    sys.exit(77)

import programs
from run_cases import make, relative_error, wire_bytes

TOLERANCE = 5e-4
BITS = {"pred": 8, "s8": 8, "u8": 8, "s16": 16, "u16": 16, "f16": 16, "bf16": 16, "s32": 32, "u32": 32,
        "f32": 32, "s64": 64, "u64": 64, "f64": 64, "c64": 64}
KINDS = {"all-reduce": "all_reduce", "all-gather": "all_gather", "reduce-scatter": "reduce_scatter",
         "all-to-all": "all_to_all", "collective-permute": "permute"}


def shape_bytes(text):
    return sum(BITS[kind] // 8 * math.prod(int(n) for n in dims.split(",") if n)
               for kind, dims in re.findall(r"(\w+)\[([\d,]*)\]", text))


def group_size(line):
    """Of the first group; 8 where a collective names none."""
    if axes := re.search(r"replica_groups=mesh\[([^\]]*)\][^{]*\{([^}]*)\}", line):
        sizes = dict(re.findall(r"'(\w+)'=(\d+)", axes[1]))
        return math.prod(int(part or sizes[name])
                         for name, part in re.findall(r"'(\w+)'(?::\(\d+\)(\d+))?", axes[2]))
    if grid := re.search(r"replica_groups=\[\d+,(\d+)\]", line):
        return int(grid[1])
    if listed := re.search(r"replica_groups=\{\{([\d,]+)\}", line):
        return listed[1].count(",") + 1
    return 8


def collectives_of(text):
    """([collectives as in mesh-run's statistics, with how often they run],
    whether that is known): of compiled HLO, bodies of loops as often as they
    run, the branch that sends most of each conditional."""
    computations, current, entry = {}, None, None
    for line in text.splitlines():
        if header := re.match(r"(ENTRY )?%?([\w.\-]+) \(.*\{$", line):
            current = computations.setdefault(header[2], [])
            entry = header[2] if header[1] else entry
        elif current is not None:
            current.append(line)
    is_exact = True

    def sent(items):
        return sum(times * wire_bytes([item], True) for times, item in items)

    def walk(name, times):
        nonlocal is_exact
        found = []
        for line in computations.get(name, []):
            if match := re.search(rf"= (.*?) ({'|'.join(KINDS)})(?:-start)?\(", line):
                found.append((times, dict(step=len(found), kind=KINDS[match[2]], group_size=group_size(line),
                                          result_bytes=shape_bytes(match[1]))))
            elif loop := re.search(r" while\(.*body=%?([\w.\-]+)", line):
                count = re.search(r'"known_trip_count":\{"n":"(\d+)"', line)
                inside = walk(loop[1], times * int(count[1]) if count else times)
                is_exact = is_exact and (bool(count) or not inside)
                found += inside
            elif branches := re.search(r"branch_computations=\{([^}]*)\}", line):
                found += max((walk(b.strip().lstrip("%"), times) for b in branches[1].split(",")), key=sent)
            elif callee := re.search(r" call\(.*to_apply=%?([\w.\-]+)", line):
                found += walk(callee[1], times)
        return found

    return walk(entry, 1), is_exact


def by_jax(program, seed):
    """(StableHLO, inputs, results, bytes, whether loops' trips are known)"""
    described = [item.describe(seed * 16 + i) for i, item in enumerate(program.inputs)]
    values = [make(item) for item in described]
    specs = tuple(program.sharding(item.spec) for item in program.inputs)
    outs = tuple(map(program.sharding, program.out_specs))
    lowered = jax.jit(program.function(), in_shardings=specs, out_shardings=outs, keep_unused=True).lower(*values)
    compiled = lowered.compile()
    collectives, known = collectives_of(compiled.as_text())
    placed = [jax.device_put(v, s) for v, s in zip(values, compiled.input_shardings[0])]
    results = [np.asarray(r) for r in compiled(*placed)]
    sent = sum(times * wire_bytes([item], True) for times, item in collectives)
    return lowered.as_text(), described, values, results, sent, known


def without_layouts(program, values):
    """The results where JAX's partitioner has nothing to do."""
    program.cut = False
    whole = program.sharding(())
    results = jax.jit(program.function(), in_shardings=whole, out_shardings=whole)(*values)
    return [np.asarray(r) for r in results]


def keep(folder, text, described, results, sent, known, program):
    """As test/Cases has them."""
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/program.mlir", "w") as file:
        file.write(text)
    with open(f"{folder}/program.txt", "w") as file:
        file.write(program.text() + "\n")
    from run_cases import sample
    np.savez_compressed(f"{folder}/expected.npz", **{
        f"result_{k}": np.ravel(result)[sample(result.size)] for k, result in enumerate(results)})
    parts = dict(name=os.path.basename(folder), mesh=program.mesh, tolerance=TOLERANCE, inputs=described,
                 results=[dict(shape=r.shape, dtype=r.dtype.name) for r in results],
                 jax=dict(version=jax.__version__, wire_bytes=round(sent), dynamic=known))
    with open(f"{folder}/case.json", "w") as file:
        file.write("{" + ",\n ".join(
            f"{json.dumps(key)}: " + ("[\n  " + ",\n  ".join(map(json.dumps, part)) + "]"
                                      if isinstance(part, list) else json.dumps(part))
            for key, part in parts.items()) + "}\n")


def by_mesh_run(tool, text, values, results, known):
    """(results, bytes), or (complaint, None)"""
    with tempfile.TemporaryDirectory() as scratch:
        with open(f"{scratch}/program.mlir", "w") as file:
            file.write(text)
        command = [tool, f"{scratch}/program.mlir", "--machine=ring", f"--output-dir={scratch}",
                   f"--stats={scratch}/stats.json"]
        for k, value in enumerate(values):
            np.save(f"{scratch}/{k}.npy", value)
            command.append(f"--input={scratch}/{k}.npy")
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return "no answer in 300 s", None
        if done.returncode:
            return (done.stderr or done.stdout or f"exit {done.returncode}").strip()[:300], None
        got = [np.load(f"{scratch}/result_{k}.npy") for k in range(len(results))]
        with open(f"{scratch}/stats.json") as file:
            sent = wire_bytes(json.load(file)["collectives"], known)
    return got, sent


def worst_error(got, wanted):
    return max((relative_error(a, b) for a, b in zip(got, wanted)), default=0.0)


def is_noise(got, first, second):
    """Whether JAX's own two runs differ as much, near zero: what cancels out (a
    gradient of what softmax does not see) is what rounding left of it."""
    apart = [float(np.max(np.abs(v - second), initial=0)) for v in (got, first)]
    return np.max(np.abs(second), initial=0) < 1e-6 and apart[0] <= 4 * apart[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep")
    parser.add_argument("--print", action="store_true", dest="all")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    ratios, ours_sum, theirs_sum = [], 0, 0
    refused, more, wrong, ran, neither, jax_wrong = 0, [], [], 0, 0, 0
    for seed in range(options.seed, options.seed + options.count):
        try:
            program = programs.Program(seed)
            text, described, values, results, theirs, known = by_jax(program, seed)
        except Exception as error:  # what JAX itself cannot do
            refused += 1
            if options.all:
                print(f"{seed}: JAX: {type(error).__name__} {str(error).splitlines()[:1]}", flush=True)
            continue
        got, ours = by_mesh_run(options.tool, text, values, results, known)
        ran += 1
        complaint = got if ours is None else None
        if ours is not None and worst_error(got, results) > TOLERANCE:
            first, results = results, without_layouts(program, values)
            runs = zip(got, first, results)
            got, first = zip(*((r, r) if is_noise(g, f, r) else (g, f) for g, f, r in runs))
            jax_wrong += worst_error(got, results) <= TOLERANCE < worst_error(first, results)
            if (error := worst_error(got, results)) > TOLERANCE:
                complaint = f"WRONG: results are off by {error:.1e}"
        if complaint:
            wrong.append(seed)
        if ours is not None:
            ours_sum, theirs_sum = ours_sum + ours, theirs_sum + theirs
            if ours and theirs:
                ratios.append(ours / theirs)
            neither += not ours and not theirs
            if ours > 1.05 * theirs:
                more.append((seed, ours, theirs))
                complaint = complaint or f"sends {ours:.0f} bytes, JAX {theirs:.0f}"
        if complaint:
            print(f"{seed}: {complaint}\n{program.text()}", flush=True)
            if options.keep:
                keep(f"{options.keep}/{seed}", text, described, results, theirs, known, program)
        elif options.all:
            print(f"{seed}: {ours:.0f} bytes, JAX {theirs:.0f}", flush=True)
        jax.clear_caches()
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 0
    print(f"{ran} programs ({refused} refused by JAX): {len(wrong)} failed {wrong}, {jax_wrong} where only "
          f"JAX's partitioner is wrong; "
          f"{len(more)} send more than JAX by over 5 % {[seed for seed, _, _ in more]}; "
          f"{neither} send nothing in either; geometric mean of bytes where both send {mean:.3f} "
          f"({len(ratios)} programs), in sum {ours_sum / max(theirs_sum, 1):.3f}")
    sys.exit(bool(wrong or more or not ran))


if __name__ == "__main__":
    main()
