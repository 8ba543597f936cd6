#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the passes that partition a program cost an op, where ops repeat: on a
chain of products with a weight each, sums and tanh, and on one of sums that all
take the same value. Instructions, counted by callgrind.

  chain_test.py MESH_OPT

Fails where a pass takes more than its bound, some 15 % above what it took when
the bound was set, or where one value that all ops use costs more than 1.5 times
the chain. A change that makes a pass cheaper lowers its bound.
"""
import sys
import tempfile

from callgrind import inclusive, skip_unless_possible

FEW, MANY = 300, 1500
# Refinement folds what repeats in programs of 600 ops and more.
FEW_REFINED, MANY_REFINED = 900, 2700
# pass: instructions an op of the chain
BOUNDS = {"PropagateLayouts": 6_900, "InsertRelayouts": 770, "ExpandToSPMD": 1_000}
REFINED_BOUNDS = {"RefineLayouts": 4_600}
PIPELINE = ("builtin.module(func.func(dtensor-propagate-layouts,"
            "dtensor-insert-relayouts,dtensor-expand-to-spmd))")
REFINED_PIPELINE = "builtin.module(func.func(dtensor-propagate-layouts,dtensor-refine-layouts))"
GIVEN = "tensor<256x256xf32, #dtensor.layout<#dtensor.mesh<x = 4>, [x, *]>>"
OPEN = "tensor<256x256xf32>"


def chain(n):
    arguments, body = [f"%x: {GIVEN}"], []
    types = {"%x": GIVEN}
    value, before = "%x", "%x"

    def add(op, *operands):
        nonlocal value, before
        result = f"%v{len(body)}"
        names = ", ".join(operands)
        of = ", ".join(types.get(name, OPEN) for name in operands)
        body.append(f"  {result} = dtensor.{op} {names} : ({of}) -> {OPEN}")
        value, before = result, value

    for i in range(n // 3):
        arguments.append(f"%w{i}: {OPEN}")
        add("matmul", value, f"%w{i}")
        add("add", value, before)
        add("tanh", value)
    return arguments, body, value


def used(n):
    body = [f"  %v0 = dtensor.tanh %x : ({GIVEN}) -> {OPEN}"]
    for i in range(1, n):
        body.append(f"  %v{i} = dtensor.add %v{i - 1}, %x : ({OPEN}, {GIVEN}) -> {OPEN}")
    return [f"%x: {GIVEN}"], body, f"%v{n - 1}"


def counts(binary, programs, pipeline, bounds):
    """For each program, by pass of `bounds`, the instructions that it takes."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as source:
        for arguments, body, result in programs:
            source.write("\n".join([f"func.func @f({', '.join(arguments)}) -> {OPEN} {{",
                                    *body, f"  return {result} : {OPEN}", "}",
                                    "// -----", ""]))
        source.flush()
        *_, last = bounds
        found = inclusive([binary, "--mlir-disable-threading", "--verify-each=0",
                           "--split-input-file", f"--pass-pipeline={pipeline}",
                           source.name, "-o", "/dev/null"],
                          f"*{last}Pass::runOnOperation()*")
    if len(found) != len(programs):
        sys.exit(f"{len(found)} programs were counted, not {len(programs)}")
    return [{name: max(count for function, count in part.items()
                       if f"{name}Pass::runOnOperation()" in function)
             for name in bounds} for part in found]


def per_op(binary):
    """Of the chain and of what uses one value: by pass the instructions of an op
    beyond the first ones (what kinds cost once does not count)."""
    chained, shared = {}, {}
    for few, many, pipeline, bounds in ((FEW, MANY, PIPELINE, BOUNDS),
                                        (FEW_REFINED, MANY_REFINED, REFINED_PIPELINE,
                                         REFINED_BOUNDS)):
        programs = [make(n) for make in (chain, used) for n in (few, many)]
        counted = counts(binary, programs, pipeline, bounds)
        for found, (less, more) in ((chained, counted[:2]), (shared, counted[2:])):
            found |= {name: (more[name] - less[name]) / (many - few) for name in bounds}
    return chained, shared


def main():
    binary = sys.argv[1]
    skip_unless_possible(binary)
    chained, shared = per_op(binary)
    failed = False
    for name, bound in (BOUNDS | REFINED_BOUNDS).items():
        bad = chained[name] > bound
        failed |= bad
        print(f"{name:>18}: {chained[name]:7.0f} instructions an op, at most {bound}; "
              f"with one value used by all {shared[name]:.0f}{': TOO MANY' if bad else ''}")
    ratio = sum(shared.values()) / sum(chained.values())
    print(f"one value used by all: {ratio:.2f} of the chain, at most 1.5")
    sys.exit(failed or ratio > 1.5)


if __name__ == "__main__":
    main()
