#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/Pipeline.md: one small program after every pass.

  make_pipeline_doc.py BUILD            writes it
  make_pipeline_doc.py BUILD --check    fails where it is not what would be written
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "test/Docs/pipeline.mlir"
PAGE = ROOT / "docs/Pipeline.md"

STAGES = [
    ("dtensor-propagate-layouts", "`--dtensor-propagate-layouts`: every value gets a layout",
     "Rules push the layouts of arguments and results through the ops. The product contracts the sharded dim, so each\n"
     "device has a sum still to be carried out: the layout says `partial<batch: sum>`. Multiplying by a constant is linear,\n"
     "so the sum stays pending."),
    ("dtensor-refine-layouts{machine=ring}", "`--dtensor-refine-layouts`: cheaper layouts, by the machine model",
     "Clusters of ops move to other layouts where that costs less in total; what a user gave never moves. This program is\n"
     "so small that its communication is all that counts."),
    ("dtensor-insert-relayouts", "`--dtensor-insert-relayouts`: operands agree with how their op runs",
     "Where an operand's layout is not what its op needs there is now a `relayout`, with the reason."),
    ("dtensor-expand-to-spmd{machine=ring}", "`--dtensor-expand-to-spmd`: shards and collectives",
     "Types become the local shards (`#spmd.shard` keeps the global shape); each relayout becomes the cheapest chain of\n"
     "collectives."),
    ("spmd-simplify-collectives", "`--spmd-simplify-collectives`", None),
    ("spmd-combine-collectives", "`--spmd-combine-collectives`", None),
    ("spmd-form-kernels", "`--spmd-form-kernels`: local math becomes kernels",
     "Elementwise chains, broadcasts and reductions become kernels: loops with affine accesses and a scalar body. f32\n"
     "products stay: the runtime has functions for them."),
]


def run(tool, passes):
    pipeline = "builtin.module(func.func(" + ",".join(passes) + "))"
    # From the root: locations in the IR name the file as it is given.
    return subprocess.run([tool, PROGRAM.relative_to(ROOT), f"--pass-pipeline={pipeline}"], cwd=ROOT,
                          capture_output=True, text=True, check=True).stdout.strip()


def page(tool):
    source = PROGRAM.read_text()
    text = ["# The pipeline, pass by pass", "",
            "Written by scripts/make_pipeline_doc.py from test/Docs/pipeline.mlir; do not edit.", "",
            "A program as a user (or the tracer) writes it: some layouts given, most missing.", "",
            "```mlir", source.strip(), "```", ""]
    passes, before = [], None
    for name, title, words in STAGES:
        passes.append(name)
        after = run(tool, passes)
        text += [f"## {title}", ""]
        if words:
            text += [words, ""]
        text += ["Changes nothing here.", ""] if after == before else ["```mlir", after, "```", ""]
        before = after
    text += ["From here the module is turned into a Program (include/meshloom/Core/Program.h): buffers with layouts, steps with",
             "loops, and compiled kernels; `mesh-run` runs it.", ""]
    return "\n".join(text)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    text = page(build / "bin/mesh-opt")
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != text:
            sys.exit(f"{PAGE.relative_to(ROOT)} is not what scripts/make_pipeline_doc.py {build} writes; run it")
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
