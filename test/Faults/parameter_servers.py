# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of the fault matrix that is of parameter servers: two of them, two
workers and a chief, of which one is hit at a stage. See fault_matrix.py."""
import json
import pathlib
import re
import signal
import socket
import time

from free_ports import free_ports
from strangers import garbage_at

STAGES = ["start", "compile", "steps", "save"]
FAULTS = ["worker killed", "worker stopped", "worker back", "ps killed", "ps stopped", "chief killed"]
FEW = {("worker back", "steps"), ("ps stopped", "steps"), ("chief killed", "steps")}
# Silence after which a task is lost, and how long one stays without its chief, or waits for the first.
SECONDS = {"MESHLOOM_HEARTBEAT_TIMEOUT": "2", "MESHLOOM_COORDINATOR_TIMEOUT": "5", "MESHLOOM_START_TIMEOUT": "10"}
# A busy machine's slack included.
LIMIT = 40

INTRODUCTION = """A chief, two workers and two parameter servers run, each in a process (`test/Faults/FaultyServers.cpp`), with `MESHLOOM_HEARTBEAT_TIMEOUT=2`,
`MESHLOOM_COORDINATOR_TIMEOUT=5` and `MESHLOOM_START_TIMEOUT=10`. Each cell is a time since the fault. *worker killed* and *stopped* end when the chief has ended, whose functions the
remaining worker runs. In *worker back*, the worker is killed, started again, and used by the chief as its only worker. *ps* ends when the chief has ended with an error that
names the server; the server is then started again, and a new chief continues from the checkpoint. *chief killed* ends when all servers have ended. No process is
left over in any of them."""


class Cluster:
    def __init__(self, case):
        self.case = case
        names = [f"localhost:{port}" for port in free_ports(5)]
        self.jobs = {"chief": names[:1], "worker": names[1:3], "ps": names[3:]}
        self.tasks = {}

    def start(self, job, index=0, stage=None, **variables):
        config = json.dumps({"cluster": self.jobs, "task": {"type": job, "index": index}})
        name = f"{job} {index}" + ("" if (job, index) not in self.tasks else f" again {time.time_ns()}")
        words = [str(self.case.bin / "faulty_servers"), stage or "steps", self.case.folder]
        self.tasks[job, index] = (self.case.start(words, name, TF_CONFIG=config, **{**SECONDS, **variables}), name)
        return name

    def process(self, job, index=0):
        return self.tasks[job, index][0]

    def start_servers(self, without=()):
        for job in ("worker", "ps"):
            for index in range(2):
                if (job, index) not in without:
                    self.start(job, index)

    def wait_at(self, seconds=60):
        end = time.time() + seconds
        while not pathlib.Path(self.case.folder, "at").exists() and time.time() < end:
            time.sleep(0.01)
        time.sleep(0.2)
        return pathlib.Path(self.case.folder, "at").exists()

    def say_hit(self):
        pathlib.Path(self.case.folder, "hit").write_text("now")


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip() and "INFO" not in line]
    return lines[-1] if lines else "(no message)"


def hit(case, stage, fault):
    cluster = Cluster(case)
    job = fault.split()[0]
    victim = (job, 0 if job == "chief" else 1)
    cluster.start_servers()
    chief = cluster.start("chief", stage=stage)
    if not cluster.wait_at():
        return False, "**the stage was not reached**", last_line(case.errors.get(chief, ""))
    if fault == "worker back":
        cluster.process("worker", 0).send_signal(signal.SIGKILL)
    cluster.process(*victim).send_signal(signal.SIGSTOP if fault.endswith("stopped") else signal.SIGKILL)
    begin = time.time()
    if fault == "worker back":
        cluster.start(*victim)
    cluster.say_hit()

    problems = []
    names = [name for task, (_, name) in cluster.tasks.items() if task[0] != "chief"] if job == "chief" else [chief]
    if not case.wait(names, LIMIT):
        problems.append(f"not ended after {LIMIT} s")
    seconds = max(case.ended.get(name, time.time()) for name in names) - begin
    message = last_line(case.errors.get(names[-1], ""))
    status = cluster.process("chief").returncode
    if job == "worker" and status != 0:
        problems.append("the chief failed")
    if job == "ps":
        if status != 1 or "/job:ps/task:1" not in message:
            problems.append("the chief does not name the server")
        process = cluster.process(*victim)
        process.kill()
        process.wait()
        cluster.start(*victim)
        again = cluster.start("chief", stage="none")
        case.wait([again], LIMIT)
        if cluster.process("chief").returncode != 0:
            problems.append("no start from the checkpoint: " + last_line(case.errors.get(again, "")))
        elif stage != "start" and not re.search("goes on from [1-9]", case.errors[again]):
            problems.append("the checkpoint is missing")
    # A stopped process goes on, and finds its chief gone.
    cluster.process(*victim).send_signal(signal.SIGCONT)
    if not case.wait([name for _, name in cluster.tasks.values()], LIMIT) or case.left():
        problems.append("processes are left over")
    return not problems, f"{seconds:.1f} s" if not problems else "**" + ", ".join(problems) + "**", message


# Faults that are no matter of a stage -------------------------------------------------


def ends_with(case, cluster, names, pattern):
    begin = time.time()
    in_time = case.wait(names, LIMIT)
    errors = [case.errors.get(name, "") for name in names]
    found = [line for error in errors for line in error.splitlines() if re.search(pattern, line)]
    return (in_time and all(re.search(pattern, error) for error in errors), f"{time.time() - begin:.1f} s",
            found[0] if found else last_line(errors[0]))


def port_taken(case):
    cluster = Cluster(case)
    port = int(cluster.jobs["ps"][0].split(":")[1])
    with socket.create_server(("127.0.0.1", port)):
        return ends_with(case, cluster, [cluster.start("ps", 0)], "port .* is taken by another process")


def wrong_tf_config(case):
    cluster = Cluster(case)
    names = [cluster.start("ps", 2), cluster.start("worker", 2), cluster.start("judge", 0)]
    del cluster.jobs["ps"]
    names.append(cluster.start("chief", stage="none"))
    return ends_with(case, cluster, names, "a right (one|TF_CONFIG) is")


def other_token(case):
    cluster = Cluster(case)
    cluster.start_servers(without=[("ps", 1)])
    cluster.start("ps", 1, MESHLOOM_TOKEN="another")
    chief = cluster.start("chief", stage="none")
    result = ends_with(case, cluster, [chief], "the token is another one")
    for job, index in (("worker", 0), ("worker", 1), ("ps", 0), ("ps", 1)):
        cluster.process(job, index).kill()
    return result


def stranger(case):
    cluster = Cluster(case)
    cluster.start_servers()
    ports = [int(cluster.jobs[job][0].split(":")[1]) for job in ("worker", "ps")]
    with garbage_at(ports):
        cluster.say_hit()
        cluster.start("chief", stage="steps")
        well = case.wait([name for _, name in cluster.tasks.values()], 40)
    return well and all(process.returncode == 0 for process, _ in cluster.tasks.values()), "ends well", ""


def server_missing(case):
    cluster = Cluster(case)
    cluster.start_servers(without=[("ps", 1)])
    chief = cluster.start("chief", stage="none")
    return ends_with(case, cluster, [chief], "/job:ps/task:1 .*did not come up within 10 s")


def server_lost_at_the_start(case):
    """While the chief waits for the other one, for longer than a loss may take."""
    cluster = Cluster(case)
    cluster.start_servers(without=[("ps", 1)])
    chief = cluster.start("chief", stage="none", MESHLOOM_START_TIMEOUT="300")
    time.sleep(3)
    cluster.process("ps", 0).send_signal(signal.SIGKILL)
    return ends_with(case, cluster, [chief], "/job:ps/task:0 .*was lost at the start")


OTHERS = {
    "a server does not come": server_missing,
    "a server is lost while the chief waits for another": server_lost_at_the_start,
    "a server's port is taken": port_taken,
    "TF_CONFIG without such a task, or without servers": wrong_tf_config,
    "another token on one server": other_token,
    "a stranger sends garbage to a worker and a server": stranger,
}
FEW_OTHERS = {"a stranger sends garbage to a worker and a server", "a server is lost while the chief waits for another"}


def rows(arguments, make_case, note):
    """The section of docs/Faults.md; `note` prints a cell and gives its text."""
    page = ["", "## Parameter servers", "", INTRODUCTION, "", "| stage | " + " | ".join(FAULTS) + " |", "|---" * (len(FAULTS) + 1) + "|"]

    def run(name, function, *words):
        case = make_case(arguments.build, "servers", name, 0)
        try:
            result = function(case, *words)
        finally:
            for process in case.processes:
                if process.poll() is None:
                    process.send_signal(signal.SIGCONT)
            case.close()
        return result, note(name, result)

    messages = []
    for stage in STAGES:
        row = [stage]
        for fault in FAULTS:
            name = f"servers: {fault} at {stage}"
            if arguments.few and (fault, stage) not in FEW or arguments.only not in name:
                row.append("")
                continue
            result, text = run(name, hit, stage, fault)
            row.append(text)
            if (fault, stage) in FEW:
                messages.append((name, result[2]))
        page.append("| " + " | ".join(row) + " |")
    page += ["", "| fault | outcome | |", "|---|---|---|"]
    for name, function in OTHERS.items():
        if arguments.few and name not in FEW_OTHERS or arguments.only not in name:
            continue
        result, text = run(name, function)
        page.append(f"| {name} | {result[1]} | {result[2][:200].replace('|', '/')} |")
    return page, messages
