#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs examples/parameter_server: as one process, then as one for each task of a
TF_CONFIG, of which a worker is killed on the way. Its losses fall, and with the
chief the others end.

usage: parameter_server_test.py PROGRAM
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys

LINE = re.compile(r"^10/10 - \d+s - loss: ([\d.e+-]+) - \S+/epoch - \S+/step$",
                  re.MULTILINE)


def check(what, output):
    losses = [float(loss) for loss in LINE.findall(output)]
    if len(losses) != 5 or losses[-1] >= losses[0]:
        sys.exit(f"{what}: expected 5 falling losses, got {losses} in:\n{output}")
    if "{'loss': " not in output:
        sys.exit(f"{what}: expected the loss of an evaluation in:\n{output}")
    print(f"{what}: {losses}")


def free_addresses(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    addresses = [f"localhost:{listener.getsockname()[1]}" for listener in held]
    for listener in held:
        listener.close()
    return addresses


def start(program, cluster, job, index, **options):
    config = {"cluster": cluster, "task": {"type": job, "index": index}}
    return subprocess.Popen([program], env=os.environ | {"TF_CONFIG": json.dumps(config), "MESHLOOM_COORDINATOR_TIMEOUT": "1"},
                            text=True, **options)


def main():
    program = sys.argv[1]
    environment = {name: value for name, value in os.environ.items()
                   if name != "TF_CONFIG"}
    check("threads", subprocess.run([program], env=environment, text=True, check=True,
                                    stdout=subprocess.PIPE, timeout=120).stdout)

    ports = free_addresses(4)
    cluster = {"chief": ports[:1], "worker": ports[1:3], "ps": ports[3:]}
    tasks = {(job, index): start(program, cluster, job, index)
             for job in ("worker", "ps") for index in range(len(cluster[job]))}
    try:
        chief = start(program, cluster, "chief", 0, stdout=subprocess.PIPE)
        output = ""
        for line in chief.stdout:
            output += line
            if line.startswith("Epoch 2"):
                tasks["worker", 0].send_signal(signal.SIGKILL)
        if chief.wait(timeout=120):
            sys.exit("the chief failed")
        check("processes", output)
        for (job, index), task in tasks.items():
            if (job, index) != ("worker", 0) and task.wait(timeout=60):
                sys.exit(f"{job} {index} failed")
    finally:
        for task in tasks.values():
            task.kill()
            task.wait()


if __name__ == "__main__":
    main()
