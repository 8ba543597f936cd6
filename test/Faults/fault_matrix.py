#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hits one process of a program at every stage with every fault, and looks what
becomes of the others: that they end in time, with an error that names who was
hit, and leave nothing behind. Prints the matrix; exits 1 where a cell is wrong.

usage: fault_matrix.py BUILD [--few] [--write] [--only TEXT]
  --few    the part that runs in CI
  --write  writes docs/Faults.md
  --only   cells whose name has this text
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import parameter_servers
from free_ports import free_ports
from strangers import PREFACE, garbage_at

STAGES = ["start", "linking", "joined", "compile", "all_reduce", "all_gather", "reduce_scatter",
          "all_to_all", "permute", "barrier", "save"]
FAULTS = {
    "killed": ("kill", 1), "stopped": ("stop", 1), "throws": ("throw", 1), "exits": ("exit", 1),
    "rank 0 killed": ("kill", 0), "rank 0 stopped": ("stop", 0),
}
FEW = {("rank 0 killed", "linking"), ("killed", "joined"), ("killed", "all_reduce"), ("stopped", "all_to_all"), ("rank 0 killed", "all_gather"),
       ("throws", "compile"), ("killed", "save")}
SIZE = 3
# The timeouts, shorter than by default so that the matrix takes minutes.
SECONDS = {"MESHLOOM_HEARTBEAT_TIMEOUT": 2, "MESHLOOM_TIMEOUT": 5}
# For the others to come. A busy machine takes its time; where one never comes, less.
START, SHORT_START = 40, 5
# Beside the longest of them: a busy machine.
SLACK = 20
# A rank that lives but does not come gets the time twice.
LIMIT = 2 * max(SECONDS.values()) + SLACK


class Case:
    """A start of the program, its processes' output and when they ended."""

    def __init__(self, build, stage, fault, victim):
        self.bin = pathlib.Path(build, "bin").resolve()
        self.folder = tempfile.mkdtemp(prefix="meshloom-fault-")
        self.words = [stage, fault, str(victim), self.folder]
        self.mark = f"{os.getpid()}.{time.time_ns()}"
        self.environment = {**os.environ, "FAULT_MATRIX": self.mark, "MESHLOOM_CACHE": "off",
                            "MESHLOOM_START_TIMEOUT": str(SHORT_START if stage == "start" and fault != "none" else START),
                            **{name: str(value) for name, value in SECONDS.items()}}
        if stage == "linking":
            self.environment["MESHLOOM_TRANSPORT"] = "tcp"
        self.processes, self.ended, self.errors = [], {}, {}
        self.threads = []

    def start(self, words, rank, **variables):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   errors="replace", env={**self.environment, **variables})

        def wait():
            self.errors[rank] = process.stderr.read()
            process.wait()
            self.ended[rank] = time.time()
        self.processes.append(process)
        self.threads.append(threading.Thread(target=wait))
        self.threads[-1].start()
        return process

    def start_ranks(self, program=None, ranks=range(SIZE), port=None, under=(), **variables):
        port = port or free_ports(1)[0]
        for rank in ranks:
            self.start([*under, str(program or self.bin / "faulty"), *self.words], rank,
                       DTENSOR_CLIENT_ID=str(rank), DTENSOR_NUM_CLIENTS=str(SIZE),
                       DTENSOR_JOBS=f"localhost:{port}", **variables)
        return port

    def start_launcher(self, *options):
        return self.start([str(self.bin / "mesh-launch"), "-n", str(SIZE), *options, str(self.bin / "faulty"),
                           *self.words], "launcher")

    def wait(self, ranks, seconds):
        """Whether these ended in time."""
        end = time.time() + seconds
        while time.time() < end and not all(rank in self.ended for rank in ranks):
            time.sleep(0.01)
        return all(rank in self.ended for rank in ranks)

    def hit(self):
        try:
            return int(pathlib.Path(self.folder, "hit").read_text()) / 1000
        except (OSError, ValueError):
            return None

    def wait_for_hit(self, seconds=60):
        end = time.time() + seconds
        while self.hit() is None and time.time() < end and not all(p.poll() is not None for p in self.processes):
            time.sleep(0.005)
        return self.hit()

    def left(self):
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            try:
                if folder.name.isdigit() and f"FAULT_MATRIX={self.mark}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                pass
        return found

    def checkpoint(self):
        """What can be restored of what was being saved."""
        if not pathlib.Path(self.folder, "checkpoint").exists():
            return "none"
        done = subprocess.run([str(self.bin / "faulty"), "check", "-", "-", self.folder], capture_output=True, text=True)
        return "whole" if done.returncode == 0 else "damaged: " + done.stderr.strip()

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
        for thread in self.threads:
            thread.join()
        shutil.rmtree(self.folder, ignore_errors=True)


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip() and " listens on " not in line]
    return lines[0] if lines else "(no message)"


def hit_by_hand(build, stage, name):
    """One cell: the ranks are started by hand, rank 0 has the service."""
    fault, victim = FAULTS[name]
    case = Case(build, stage, fault, victim)
    try:
        case.start_ranks()
        hit = case.wait_for_hit()
        if hit is None:
            return False, "the stage was not reached", first_line(case.errors.get(0, ""))
        others = [rank for rank in range(SIZE) if rank != victim]
        limit = LIMIT
        in_time = case.wait(others, limit)
        seconds = max(case.ended.get(rank, time.time()) for rank in others) - hit
        named = [bool(re.search(rf"rank {victim}\b|ranks? (\d+, )*{victim}\b", case.errors.get(rank, ""))) for rank in others]
        failed = [case.processes[rank].returncode not in (0, None) for rank in others]
        problems = []
        if not in_time:
            problems.append(f"not ended after {limit} s")
        elif not all(failed):
            problems.append("a survivor ended with status 0")
        elif not all(named):
            problems.append("the victim is not named")
        if stage == "save":
            state = case.checkpoint()
            if state.startswith("damaged"):
                problems.append("checkpoint " + state)
        message = first_line(case.errors.get(others[-1], ""))
        text = f"{seconds:.1f} s" if not problems else "**" + ", ".join(problems) + "**"
        return not problems, text, message
    finally:
        case.close()


def hit_launched(build, stage, fault):
    """The same under mesh-launch, which ends everything."""
    case = Case(build, stage, fault, 1)
    try:
        case.start_launcher()
        hit = case.wait_for_hit()
        limit = LIMIT
        in_time = case.wait(["launcher"], limit)
        seconds = case.ended.get("launcher", time.time()) - (hit or time.time())
        error = case.errors.get("launcher", "")
        time.sleep(0.2)
        problems = []
        if hit is None:
            problems.append("the stage was not reached")
        if not in_time:
            problems.append(f"not ended after {limit} s")
        elif case.left():
            problems.append("processes are left over")
        elif "rank 1 " not in error or not re.search("failed first|did not start", error):
            problems.append("it does not say who failed first")
        reports = [line for line in error.splitlines() if line.startswith("mesh-launch:")]
        text = f"{seconds:.1f} s" if not problems else "**" + ", ".join(problems) + "**"
        return not problems, text, reports[0] if reports else first_line(error)
    finally:
        case.close()


# Faults that are no matter of a stage -------------------------------------------------


def expect(case, pattern, ranks, seconds=SLACK + 5, status=None):
    """All these end in time with an error that has the pattern."""
    begin = time.time()
    in_time = case.wait(ranks, seconds)
    took = max([case.ended.get(rank, time.time()) for rank in ranks]) - begin
    errors = [case.errors.get(rank, "") for rank in ranks]
    found = [line for error in errors for line in error.splitlines() if re.search(pattern, line)]
    good = in_time and len(found) >= 1 and all(re.search(pattern, error) for error in errors)
    return good, f"{took:.1f} s", found[0] if found else first_line(errors[0])


def another_program(case):
    other = pathlib.Path(case.folder, "faulty-other")
    shutil.copy(case.bin / "faulty", other)
    with open(other, "ab") as file:
        file.write(b"\0")
    port = case.start_ranks(ranks=[0, 1])
    case.start_ranks(program=other, ranks=[2], port=port)
    return expect(case, "rank [0-2] .*runs another program than rank|runs another program", range(SIZE))


def another_number(case):
    port = case.start_ranks(ranks=[0, 1])
    case.start([str(case.bin / "faulty"), *case.words], 2, DTENSOR_CLIENT_ID="2", DTENSOR_NUM_CLIENTS="4",
               DTENSOR_JOBS=f"localhost:{port}")
    return expect(case, "started as one of 4 processes, this run has 3", range(SIZE))


def a_rank_twice(case):
    port = case.start_ranks(ranks=[0, 1])
    time.sleep(1)
    case.start([str(case.bin / "faulty"), *case.words], "second", DTENSOR_CLIENT_ID="1",
               DTENSOR_NUM_CLIENTS=str(SIZE), DTENSOR_JOBS=f"localhost:{port}")
    result = expect(case, "is rank 1 already", ["second"])
    # The run itself goes on.
    case.start_ranks(ranks=[2], port=port)
    well = case.wait(range(SIZE), 30) and all(case.processes[i].returncode == 0 for i in (0, 1, 3))
    return result[0] and well, result[1], result[2]


def wrong_tf_config(case):
    for rank in range(2):
        config = {"cluster": {"worker": ["localhost:1", "localhost:2"]}, "task": {"type": "worker", "index": rank + 1}}
        case.start([str(case.bin / "faulty"), *case.words], rank, TF_CONFIG=json.dumps(config) if rank else "{")
    return expect(case, "a right one is", range(2))


def port_taken(case):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        case.start_ranks(ranks=[0], port=taken.getsockname()[1])
        return expect(case, "port .* is taken by another process", [0])


def wrong_token(case):
    port = case.start_ranks(ranks=[0], MESHLOOM_TOKEN="right")
    case.start_ranks(ranks=[1], port=port, MESHLOOM_TOKEN="wrong")
    return expect(case, "the token is wrong", [1])


def token_of_other_bytes(case):
    """A token that was read from a file with Windows' ends of lines, for one."""
    tokens = ["abc\r", "\u00e4", "a\tb", "\n", " a"]
    for number, token in enumerate(tokens):
        case.start([str(case.bin / "faulty"), *case.words], number, DTENSOR_CLIENT_ID="0", DTENSOR_NUM_CLIENTS="2",
                   DTENSOR_JOBS=f"localhost:{free_ports(1)[0]}", MESHLOOM_TOKEN=token)
    case.start([str(case.bin / "mesh-launch"), "-n", "2", "true"], "launcher", MESHLOOM_TOKEN=tokens[0])
    return expect(case, "such as MESHLOOM_TOKEN=8f3a1c5e7b9d2f40, got one", [*range(len(tokens)), "launcher"])


def earlier_start(case):
    port = case.start_ranks(ranks=[0], MESHLOOM_GENERATION="2")
    case.start_ranks(ranks=[1], port=port, MESHLOOM_GENERATION="1")
    return expect(case, "belongs to start 0{15}1 of the program, this service is of start 0{15}2", [1])


def stranger(case):
    port = free_ports(1)[0]
    with garbage_at([port]):
        case.start_ranks(port=port)
        well = case.wait(range(SIZE), 40)
    return well and all(p.returncode == 0 for p in case.processes), "ends well", ""


SETTINGS = b"\0\0\x06\4\0\0\0\0\0" + b"\0\4\0\1\0\0"


def flood(case, *texts):
    """Strangers who connect as fast as they can, say something and go."""
    port = free_ports(1)[0]
    flooders = [subprocess.Popen([sys.executable, "-c", f"""
import socket
while True:
    try:
        with socket.create_connection(("127.0.0.1", {port}), 0.5) as one:
            one.sendall({said!r})
    except OSError:
        pass
"""]) for said in texts]
    begin = time.time()
    case.start_ranks(port=port)
    well = case.wait(range(SIZE), 40)
    for flooder in flooders:
        flooder.kill()
        flooder.wait()
    well = well and all(p.returncode == 0 for p in case.processes)
    return well, f"ends well after {time.time() - begin:.1f} s", "" if well else first_line(" ".join(case.errors.values()))


def sockets_of(processes):
    found = set()
    for process in processes:
        for file in pathlib.Path(f"/proc/{process.pid}/fd").glob("*"):
            try:
                found.add(os.readlink(file))
            except OSError:
                pass
    return {name for name in found if name.startswith("socket:")}


def ports_of(processes):
    """The addresses and ports that they listen at (IPv4)."""
    sockets = sockets_of(processes)
    lines = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().split("\n")[1:] if line]
    listening = [words[1].split(":") for words in lines if words[3] == "0A" and f"socket:[{words[9]}]" in sockets]
    return [(socket.inet_ntoa(int(host, 16).to_bytes(4, "little")), int(port, 16)) for host, port in listening]


def strangers_between(case):
    """Strangers at whatever port a rank listens at, but the service's, from its start to its end: who say nothing, garbage, or what ranks
    say but for the secret; all of them stay."""
    # The last rank connects a little late, so that the others listen for a while.
    late = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=connect", "-e", "inject=connect:delay_enter=400000"]
    if not shutil.which(late[0]):
        return None, "skipped: this machine has no strace, which makes a rank connect late", ""
    service = free_ports(1)[0]
    begin = time.time()
    case.start_ranks(port=service, ranks=range(SIZE - 1), MESHLOOM_TRANSPORT="tcp")
    case.start_ranks(port=service, ranks=[SIZE - 1], under=late, MESHLOOM_TRANSPORT="tcp")
    payloads = [b"", os.urandom(200), struct.pack("<6QI", 52, 1, 0, 0, 4, 0, 7), struct.pack("<6Q", 48, 3, 0, 0, 4, 0),
            struct.pack("<QQii", 0x4d4c4f4f4d544350, 7, 1, 0), struct.pack("<QQ", 0x4d4c4f4f4d544350, 7)]
    strangers = []

    while time.time() < begin + 40 and not all(rank in case.ended for rank in range(SIZE)):
        for address in ports_of(case.processes):
            try:
                while address[1] != service and len(strangers) < 500:
                    strangers.append(socket.create_connection(address, 0.5))
                    strangers[-1].sendall(payloads[len(strangers) % len(payloads)])
            except OSError:
                pass
        time.sleep(0.003)
    for one in strangers:
        one.close()
    well = case.wait(range(SIZE), 1) and all(p.returncode == 0 for p in case.processes)
    return well, f"ends well with {len(strangers)} of them", "" if well else first_line(" ".join(case.errors.values()))


def disk_full(case):
    # A file system of its own, too small, which only these processes see.
    case.words[0] = "save"
    inside = (f"mount -t tmpfs -o size=64k none {case.folder} && exec {case.bin}/mesh-launch -n {SIZE} "
              f"{case.bin}/faulty {' '.join(case.words)}")
    if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", case.folder]).returncode != 0:
        return None, "skipped: this machine allows no mounts", ""
    case.start(["unshare", "-m", "sh", "-c", inside], "launcher")
    return expect(case, "No space left|cannot be written|space", ["launcher"], 40)


# Ways to make the loopback of a namespace of its own slow and lossy. Kernels
# without netem can drop packets by a program of their packet filter (a random
# number below a twentieth of 2^32: drop), and send 64 KiB in 5 ms.
SLOW_NETWORKS = {
    "5 ms delay and 5 % loss": "tc qdisc add dev lo root netem delay 5ms loss 5%",
    "100 Mbit/s and 5 % loss, as the kernel has no netem":
        "tc qdisc add dev lo root tbf rate 100mbit burst 128kb latency 50ms && tc qdisc add dev lo clsact && "
        "tc filter add dev lo ingress bpf da bytecode '4,32 0 0 4294963256,53 0 1 214748365,6 0 0 0,6 0 0 2'",
}


def slow_network(case):
    refused = []
    for network, commands in SLOW_NETWORKS.items():
        prepare = f"ip link set lo up && {commands}"
        tried = subprocess.run(["unshare", "-n", "sh", "-c", prepare], capture_output=True, text=True)
        if tried.returncode == 0:
            break
        refused.append(tried.stderr.strip().split("\n")[0])
    else:
        return None, f"skipped: this machine has no network that can be made slow ({'; '.join(refused)})", ""
    case.start(["unshare", "-n", "sh", "-c", f"{prepare} && exec {case.bin}/mesh-launch -n {SIZE} {case.bin}/faulty {' '.join(case.words)}"], "launcher",
               MESHLOOM_TRANSPORT="tcp", MESHLOOM_TIMEOUT="30", MESHLOOM_START_TIMEOUT="30", MESHLOOM_HEARTBEAT_TIMEOUT="10")
    begin = time.time()
    well = case.wait(["launcher"], 60)
    well = well and case.processes[0].returncode == 0
    return well, f"ends well after {time.time() - begin:.1f} s ({network})", "" if well else first_line(case.errors.get("launcher", ""))


OTHERS = {
    "another executable file on one rank": another_program,
    "another number of processes on one rank": another_number,
    "two processes of one rank": a_rank_twice,
    "TF_CONFIG that is no JSON, or has no such task": wrong_tf_config,
    "the service's port is taken": port_taken,
    "another token": wrong_token,
    "a token of bytes that gRPC does not take": token_of_other_bytes,
    "a process of an earlier start": earlier_start,
    "a stranger sends garbage to the service": stranger,
    "a flood of connections to the service": lambda case: flood(case, b"", b"", PREFACE),
    "a flood of what clients say first": lambda case: flood(case, PREFACE + SETTINGS),
    "strangers at the ports between processes (TCP)": strangers_between,
    "the disk is full while saving": disk_full,
    "a slow network that loses packets (TCP)": slow_network,
}
FEW_OTHERS = {"another executable file on one rank", "a token of bytes that gRPC does not take", "a process of an earlier start", "a stranger sends garbage to the service"}

INTRODUCTION = f"""# Faults on purpose

This page shows how long the processes of a program take to notice a fault, for each fault and each stage of a program. `test/Faults/fault_matrix.py build --write`
writes it; do not edit. In a program of {SIZE} processes, one is hit by a fault at a stage. Each cell is
the time from the fault until the last of the other processes has ended, with an error that names the one that was hit. Timeouts are shorter than their
defaults: {", ".join(f"`{name}={value}`" for name, value in SECONDS.items())}, and at the stage *start*, where the victim never comes,
`MESHLOOM_START_TIMEOUT={SHORT_START}`, else {START}. *linking* is the stage at which the processes have met, and the victim listens for the others by TCP but has not said where.

At the stage "in a collective" the others are in the collective when the fault happens. Rank 0 runs the coordination service here; under `mesh-launch` the
launcher runs it. *exits* means that the rank ends with status 0 while the others go on, which they learn when it leaves. At the stage *save*, the disk must also hold
either a whole checkpoint or no checkpoint.
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    wrong = 0
    page = [INTRODUCTION, "## Started by hand", "",
            "| stage | " + " | ".join(f"rank 1 {name}" if not name.startswith("rank") else name for name in FAULTS) + " |",
            "|---" * (len(FAULTS) + 1) + "|"]
    messages = []

    def note(name, result):
        nonlocal wrong
        good, text, message = result
        wrong += good is False
        print(f"{name:45} {text:12} {message[:170]}", flush=True)
        if good is False:
            print(f"WRONG: {name}: {message}", flush=True)
        return text

    for stage in STAGES:
        row = [stage]
        for name in FAULTS:
            if arguments.few and (name, stage) not in FEW or arguments.only not in f"{name} at {stage}":
                row.append("")
                continue
            result = hit_by_hand(arguments.build, stage, name)
            row.append(note(f"{name} at {stage}", result))
            if (name, stage) in FEW:
                messages.append((f"{name}, {stage}", result[2]))
        page.append("| " + " | ".join(row) + " |")
    page += ["", "## Under mesh-launch", "", "| stage | rank 1 killed | rank 1 stopped |", "|---|---|---|"]
    for stage in STAGES:
        row = [stage]
        for fault in ("kill", "stop"):
            if arguments.few and (stage, fault) != ("permute", "stop") or arguments.only not in f"launched {fault} at {stage}":
                row.append("")
                continue
            row.append(note(f"launched {fault} at {stage}", hit_launched(arguments.build, stage, fault)))
        page.append("| " + " | ".join(row) + " |")
    page += ["", "## Others", "", "| fault | outcome | |", "|---|---|---|"]
    for name, function in OTHERS.items():
        if arguments.few and name not in FEW_OTHERS or arguments.only not in name:
            continue
        case = Case(arguments.build, "all_reduce", "none", 0)
        try:
            result = function(case)
        finally:
            case.close()
        note(name, result)
        page.append(f"| {name} | {result[1]} | {result[2][:200].replace('|', '/')} |")
    servers, said = parameter_servers.rows(arguments, Case, note)
    page += servers
    messages += said
    page += ["", "## Errors of the other processes", ""]
    for name, message in messages:
        page += [f"{name}:", "", "```", message, "```", ""]
    if arguments.write:
        pathlib.Path(__file__).resolve().parents[2].joinpath("docs/Faults.md").write_text("\n".join(page))
    print(f"{wrong} cells are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
