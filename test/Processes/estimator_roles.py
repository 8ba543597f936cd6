#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts the estimator example once for each task of a TF_CONFIG: with parameter
servers, and with workers alone. All processes end well, one model is trained,
and the evaluator shows the numbers of one process.

usage: estimator_roles.py BUILD
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from free_ports import free_ports

LINE = re.compile(r"^loss: (\S+), global_step: (\d+)$", re.M)


def last_line(output):
    """The last loss and global_step that were shown."""
    return LINE.findall(output)[-1]


def check(program, jobs, folder):
    """What is wrong with a training of so many tasks of each job."""
    ports = iter(free_ports(sum(jobs.values())))
    cluster = {job: [f"localhost:{next(ports)}" for _ in range(count)]
               for job, count in jobs.items()}
    tasks = [(job, index) for job, count in jobs.items() for index in range(count)]
    processes = {}
    for job, index in [*tasks, ("evaluator", 0)]:
        config = {"cluster": cluster, "task": {"type": job, "index": index}}
        processes[job, index] = subprocess.Popen(
            [program], cwd=folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TF_CONFIG": json.dumps(config),
                 "MESHLOOM_COORDINATOR_TIMEOUT": "2"})
    outputs = {task: process.communicate(timeout=150)
               for task, process in processes.items()}
    wrong = [f"{task} ended with {process.returncode}: {outputs[task]}"
             for task, process in processes.items() if process.returncode != 0]
    trained = [task for task, (_, errors) in outputs.items()
               if "Saving checkpoints" in errors]
    if trained != [("chief", 0)]:
        wrong.append(f"checkpoints were written by {trained}")
    shown = [task for task, (output, _) in outputs.items() if LINE.search(output)]
    if shown != [("evaluator", 0)]:
        wrong.append(f"numbers were shown by {shown}")
    steps = sorted(int(path.name.rsplit("-", 1)[1]) for path in
                   pathlib.Path(folder, "estimator", "model").glob("model.ckpt-*"))
    if steps != [0, 3, 6]:
        wrong.append(f"there are checkpoints of the steps {steps}")
    if not wrong:
        alone = subprocess.run([program, "--output=alone"], cwd=folder, text=True,
                               capture_output=True, timeout=150, check=True).stdout
        got = last_line(outputs["evaluator", 0][0])
        wanted = last_line(alone)
        if got[1] != wanted[1] or abs(float(got[0]) / float(wanted[0]) - 1) > 1e-5:
            wrong.append(f"the evaluator shows {got}, one process {wanted}")
    return wrong


def main():
    program = pathlib.Path(sys.argv[1]).resolve() / "bin" / "estimator"
    failed = False
    # One worker, whose steps come one after the other.
    for jobs in ({"chief": 1, "worker": 1, "ps": 2}, {"chief": 1, "worker": 2}):
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(program, jobs, folder)
        print(jobs, *(wrong or ["ok"]), sep="\n  ", flush=True)
        failed |= bool(wrong)
    sys.exit(failed)


if __name__ == "__main__":
    main()
