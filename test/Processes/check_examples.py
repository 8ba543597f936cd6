#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs training examples as several processes, started by TF_CONFIG and by
mesh-launch, and compares the numbers that they print with those of one process.

usage: check_examples.py BUILD
"""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from free_ports import free_ports

NUMBER = re.compile(r"(?:loss|accuracy|evaluate|without the stop):? "
                    r"(-?[\d.]+(?:e[-+]?\d+)?)")


def numbers(output):
    return [float(number) for number in NUMBER.findall(output)]


def run(command, folder):
    done = subprocess.run([str(part) for part in command], cwd=folder, text=True,
                          capture_output=True, timeout=200)
    if done.returncode != 0:
        raise RuntimeError(f"{command} failed: {done.stdout}{done.stderr}")
    return done.stdout


def run_by_tf_config(program, workers, folder):
    """The chief's output, and that all ended well."""
    addresses = [f"localhost:{port}" for port in free_ports(workers)]
    processes = []
    for index in range(workers):
        config = {"cluster": {"worker": addresses},
                  "task": {"type": "worker", "index": index}}
        processes.append(subprocess.Popen(
            [program], cwd=folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TF_CONFIG": json.dumps(config)}))
    outputs = [process.communicate(timeout=200) for process in processes]
    for index, process in enumerate(processes):
        if process.returncode != 0:
            raise RuntimeError(f"worker {index} failed: {outputs[index]}")
    return outputs[0][0]


def is_close(one, other):
    """Whether two words are the same, or numbers that are but for rounding."""
    try:
        return math.isclose(float(one.strip("[],")), float(other.strip("[],")),
                            rel_tol=1e-4)
    except ValueError:
        return one == other


def check_mesh_run(build, launcher, folder):
    """mesh-run in four processes gives what it gives in one."""
    programs = pathlib.Path(__file__).resolve().parent.parent / "Programs"
    failed = False
    for name in ("mlp_two_axes", "reductions_uneven"):
        command = [build / "bin" / "mesh-run", programs / f"{name}.mlir"]
        wanted = run(command, folder).splitlines()
        got = [line[4:] for line in run([*launcher, "4", *command],
                                        folder).splitlines()
               if line.startswith("[2] ")]
        same = wanted and len(wanted) == len(got) and all(
            is_close(one, other) for one, other in
            zip(" ".join(wanted).split(), " ".join(got).split()))
        print(f"mesh-launch -n 4 mesh-run {name}: "
              f"{'ok' if same else f'expected {wanted}, got {got}'}", flush=True)
        failed |= not same
    return failed


def check_bits(build, launcher, folder):
    """In the deterministic mode four processes of two devices give the bits of
    one process of eight."""
    programs = pathlib.Path(__file__).resolve().parent.parent / "Programs"
    failed = False
    for name in ("mnist_mlp_step", "attention"):
        found = []
        for start in ([], [*launcher, "4"]):
            results = pathlib.Path(folder) / f"{name}-{len(found)}"
            results.mkdir()
            run([*start, build / "bin" / "mesh-run", "--deterministic",
                 programs / f"{name}.mlir", f"--output-dir={results}"], folder)
            found.append({path.name: path.read_bytes() for path in results.iterdir()})
        same = found[0] and found[0] == found[1]
        print(f"mesh-launch -n 4 mesh-run --deterministic {name}: "
              f"{len(found[0])} results, {'the same bits' if same else 'other bits'}",
              flush=True)
        failed |= not same
    return failed


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    launcher = [build / "bin" / "mesh-launch", "-n"]
    failed = False

    def compare(name, wanted, got, exact=False):
        nonlocal failed
        same = len(wanted) > 0 and len(wanted) == len(got) and all(
            one == other if exact else
            math.isclose(one, other, rel_tol=1e-5, abs_tol=2e-3 if "mnist" in name else 0)
            for one, other in zip(wanted, got))
        print(f"{name}: {got if same else f'expected {wanted}, got {got}'}",
              flush=True)
        failed |= not same

    with tempfile.TemporaryDirectory() as folder:
        # Programs that are started in several ways have the same kernels.
        os.environ["MESHLOOM_CACHE"] = os.path.join(folder, "cache")
        program = build / "bin" / "multi_worker"
        wanted = numbers(run([program], folder))
        for workers in (2, 3):
            compare(f"multi_worker by TF_CONFIG, {workers} workers", wanted,
                    numbers(run_by_tf_config(program, workers, folder)))
        failed |= check_mesh_run(build, launcher, folder)
        failed |= check_bits(build, launcher, folder)
        # Its losses are those of one process, else it fails.
        run([*launcher, "3", build / "bin" / "custom_loop", "--strategy=multi_worker",
             "--check"], folder)
        for processes, *command in (
                ["4", "keras_line", "--replicas=4"],
                ["2", "tpu_mnist", "--small", "--strategy=mirrored",
                 "--replicas=2", "--epochs=1"],
                ["4", "mnist_mlp", "--train=264", "--test=64", "--epochs=1"],
                ["2", "pipeline"],
                ["2", "dtensor_state", "--small"],
                ["4", "dtensor_state", "--small", "--strategy=dtensor", "--replicas=8",
                 "--deterministic"]):
            program = [build / "bin" / command[0], *command[1:]]
            wanted = numbers(run(program, folder))
            output = run([*launcher, processes, *program], folder)
            # Lines have the rank in front; all say the same.
            first = "\n".join(line for line in output.splitlines()
                              if re.match(r"\W*0\W", line))
            compare(f"mesh-launch -n {processes} {' '.join(command)}", wanted,
                    numbers(first), exact="--deterministic" in command)
    sys.exit(failed)


if __name__ == "__main__":
    main()
