#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mesh-launch and mesh-coordinator with real processes: lines stay whole, one
failure ends all and the first one is named, signals arrive, nothing is left.

usage: launch_test.py BIN  (the folder with mesh-launch, mesh-coordinator and
cluster-rank)
"""
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
LAUNCH, RANK = str(BIN / "mesh-launch"), str(BIN / "cluster-rank")


def launch(*arguments, timeout=30, **options):
    return subprocess.run([LAUNCH, *arguments], capture_output=True, text=True,
                          timeout=timeout, **options)


def processes_with(mark):
    """Processes that have `mark` in their environment."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            pass
    return found


class Launch(unittest.TestCase):
    def setUp(self):
        self.mark = f"LAUNCH_TEST={os.getpid()}.{time.time_ns()}"
        name, _, value = self.mark.partition("=")
        os.environ[name] = value
        del name
        self.shared = set(os.listdir("/dev/shm"))

    def tearDown(self):
        """Nothing is left over, whatever happened."""
        del os.environ["LAUNCH_TEST"]
        end = time.time() + 3
        while processes_with(self.mark) and time.time() < end:
            time.sleep(0.02)
        self.assertEqual(processes_with(self.mark), [])
        self.assertEqual(set(n for n in os.listdir("/dev/shm") if "meshloom" in n) - self.shared, set())

    def test_lines_are_prefixed_and_whole(self):
        script = ('i=0; while [ $i -lt 200 ]; do printf "%s" "begin-"; '
                  'printf "%0900d" $DTENSOR_CLIENT_ID; echo "-end"; i=$((i+1)); done; printf last')
        done = launch("-n", "3", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 603)
        for line in lines:
            self.assertRegex(line, r"^\[(\d)\] (begin-0{899}\1-end|last)$")

    def test_ranks_are_told_who_they_are(self):
        done = launch("-n", "2", "--devices-per-process", "3", "sh", "-c",
                      "echo $DTENSOR_CLIENT_ID/$DTENSOR_NUM_CLIENTS $DTENSOR_JOB_NAME "
                      "$MESHLOOM_DEVICES_PER_PROCESS $MESHLOOM_LOCAL_SIZE $DTENSOR_JOBS")
        lines = sorted(done.stdout.splitlines())
        self.assertRegex(lines[0], r"^\[0\] 0/2 worker 3 2 localhost:\d+$")
        self.assertRegex(lines[1], r"^\[1\] 1/2 worker 3 2 localhost:\d+$")

    def test_ranks_meet_and_leave(self):
        done = launch("-n", "4", RANK, "join", "barrier:a", "print:there", "shutdown")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(done.stdout.splitlines()), [f"[{r}] there" for r in range(4)])

    def test_standard_input_is_read_by_each(self):
        with tempfile.TemporaryFile("w+") as file:
            file.write("the input\n")
            file.seek(0)
            done = launch("-n", "2", "cat", stdin=file)
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] the input", "[1] the input"])

    def test_the_exit_status_is_that_of_the_first_to_fail(self):
        before = time.time()
        done = launch("-n", "3", "--grace", "0.1", RANK, "1@sleep:0.2", "1@error:no such thing",
                      "1@exit:7", "sleep:60")
        self.assertEqual(done.returncode, 7)
        self.assertRegex(done.stderr, r"mesh-launch: rank 1 \(process \d+ on host localhost\) failed "
                                      r"first: exit status 7; its last words: no such thing; ending the others")
        self.assertLess(time.time() - before, 5)

    def test_seconds_are_numbers(self):
        for option in ("--grace", "--heartbeat-timeout"):
            for value, why in (("nan", "is not a number"), ("-nan", "is not a number"), ("inf", "not in range")):
                done = launch("-n", "2", f"{option}={value}", "true")
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"{option}: Value {value} {why}", done.stderr)

    def test_a_killed_rank_is_named_to_all(self):
        done = launch("-n", "3", RANK, "join", "2@signal:9", "barrier:a")
        self.assertEqual(done.returncode, 128 + 9)
        self.assertRegex(done.stderr, r"mesh-launch: rank 2 \(.*\) failed first: signal 9 \(Killed\)")
        for rank in (0, 1):
            self.assertRegex(done.stderr, rf"\[{rank}\] barrier 'a': rank 2 ")

    def test_what_a_rank_reports_is_why(self):
        done = launch("-n", "3", RANK, "join", "1@report:the loss is NaN", "1@exit:3", "barrier:a")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"mesh-launch: rank 1 \(.*\) failed first: the loss is NaN")
        self.assertRegex(done.stderr, r"\[0\] barrier 'a': rank 1 \(.*\) failed: the loss is NaN")

    def test_a_rank_that_leaves_early_is_missed(self):
        done = launch("-n", "2", RANK, "join", "1@exit:0", "barrier:a")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"rank 1 \(.*\) (is lost|failed first): its process has ended before")

    def test_a_rank_that_ends_without_joining_is_not_waited_for(self):
        # Before the others join, and while they wait.
        for verbs in (["1@exit:0", "sleep:0.5", "join"], ["1@sleep:0.5", "1@exit:0", "join"]):
            before = time.time()
            done = launch("-n", "3", RANK, *verbs)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"mesh-launch: rank 1 .* failed first: its program has ended "
                                          r"before it joined the others")
            self.assertLess(time.time() - before, 30)

    def test_a_stopped_rank_is_lost(self):
        before = time.time()
        done = launch("-n", "2", "--heartbeat-timeout", "1", RANK, "join", "1@signal:19", "barrier:a")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"rank 1 \(.*\) failed first: nothing was heard from it for 1 s")
        self.assertLess(time.time() - before, 8)

    def test_signals_are_passed_on(self):
        for number, status in ((signal.SIGTERM, 0), (signal.SIGUSR1, 0), (signal.SIGINT, 0)):
            name = signal.Signals(number).name[3:]
            process = subprocess.Popen(
                [LAUNCH, "-n", "2", "sh", "-c", f"trap 'echo got {name}; exit 0' {name}; echo ready; "
                 "while :; do sleep 0.05; done"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            ready = [process.stdout.readline(), process.stdout.readline()]
            self.assertEqual(sorted(ready), ["[0] ready\n", "[1] ready\n"])
            process.send_signal(number)
            out, err = process.communicate(timeout=10)
            self.assertEqual(sorted(out.splitlines()), [f"[0] got {name}", f"[1] got {name}"])
            self.assertEqual(process.returncode, status, err)

    def test_a_second_signal_kills(self):
        process = subprocess.Popen([LAUNCH, "-n", "2", "sh", "-c", "trap '' INT; echo ready; "
                                    "while :; do sleep 0.05; done"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        process.stdout.readline(), process.stdout.readline()
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, err)

    def test_nothing_outlives_a_launcher_that_is_killed(self):
        process = subprocess.Popen([LAUNCH, "-n", "2", "sh", "-c", "sleep 60 & echo ready; sleep 60"],
                                   stdout=subprocess.PIPE, text=True)
        process.stdout.readline(), process.stdout.readline()
        process.kill()
        process.communicate()
        # tearDown looks.

    def test_children_of_ranks_end_with_the_run(self):
        done = launch("-n", "2", "sh", "-c", "sleep 60 & echo started")
        self.assertEqual(done.returncode, 0)

    def test_hosts_run_agents(self):
        shell = "sh -c {command}"
        done = launch("-n", "5", "--hosts", "hosta:2,hostb,localhost:1", "--remote-shell", shell,
                      "--address", "localhost", RANK, "join", "barrier:a", "print:there", "shutdown")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"[{r}] there" for r in range(5)])
        done = launch("-n", "3", "--hosts", "hosta,hostb", "--remote-shell", shell, "--address",
                      "localhost", RANK, "join", "2@exit:5", "barrier:a")
        self.assertEqual(done.returncode, 5)
        self.assertRegex(done.stderr, r"rank 2 \(process \d+ on host hostb\) failed first: exit status 5")

    def test_a_host_that_cannot_be_reached_is_said(self):
        done = launch("-n", "2", "--hosts", "hosta,localhost", "--remote-shell",
                      "sh -c {command}-missing", "--address", "localhost", RANK, "join", "barrier:a")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"rank 0 \(process 0 on host hosta\) failed first: .*the connection "
                                      r"to host hosta ended \(exit status 127\)")

    def test_other_machines_are_not_listened_to_unasked(self):
        done = launch("--hosts", "hosta", "--address", "0.0.0.0", RANK, "join")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "which other machines reach, without TLS")

    def test_restarts_on_what_is_left(self):
        script = f'[ $MESHLOOM_RESTARTS = 0 ] && exec {RANK} join 1@signal:9 barrier:a; exec {RANK} join print:on shutdown'
        done = launch("-n", "3", "--max-restarts", "2", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("mesh-launch: restart 1 of 2 with 2 processes", done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] on", "[1] on"])
        # One that always fails ends with the last failure.
        done = launch("-n", "2", "--max-restarts", "1", "--grace", "0.1", RANK, "0@exit:4")
        self.assertEqual(done.returncode, 4)
        self.assertIn("restart 1 of 1 with 2 processes", done.stderr)
        done = launch("-n", "2", "--max-restarts", "1", "--min-processes", "2", RANK, "0@signal:9")
        self.assertIn("1 processes are left, fewer than --min-processes=2", done.stderr)

    def test_a_rank_that_ends_because_its_peer_died_is_not_lost(self):
        # An error that nothing catches ends a program by SIGABRT; both come
        # within one moment.
        for survivor in (signal.SIGABRT, signal.SIGSEGV):
            script = (f'[ $MESHLOOM_RESTARTS = 1 ] && echo $DTENSOR_CLIENT_ID of $DTENSOR_NUM_CLIENTS && exit; '
                      f'[ $DTENSOR_CLIENT_ID = 1 ] && kill -KILL $$; kill -{int(survivor)} $$')
            done = launch("-n", "2", "--max-restarts", "2", "sh", "-c", script)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("rank 1", done.stderr)
            self.assertRegex(done.stderr, r"rank 1 \(.*\) failed first: signal 9 \(Killed\)")
            self.assertIn("restart 1 of 2 with 1 processes", done.stderr)
            self.assertEqual(done.stdout, "[0] 0 of 1\n")

    def test_a_rank_that_is_stopped_after_it_left_is_lost(self):
        before = time.time()
        done = launch("-n", "2", "--heartbeat-timeout", "1", "--grace", "0.1", RANK, "join", "shutdown",
                      "1@signal:19")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"rank 1 \(.*\) failed first: it has been stopped for 1.5 s")
        self.assertLess(time.time() - before, 15)
        # One that goes on in time is not.
        done = launch("-n", "2", "--heartbeat-timeout", "10", "sh", "-c",
                      "[ $DTENSOR_CLIENT_ID = 0 ] && exit; (sleep 0.3; kill -CONT $$) & kill -STOP $$; echo on")
        self.assertEqual((done.returncode, done.stdout), (0, "[1] on\n"), done.stderr)

    def test_what_ranks_start_ends_with_the_run_in_sessions_of_its_own_too(self):
        # tearDown looks for what is left.
        start = "setsid sleep 60 & setsid setsid sleep 60 & (sleep 60 &) ; sleep 0.2; "
        done = launch("-n", "2", "sh", "-c", start + "echo started")
        self.assertEqual(done.returncode, 0, done.stderr)
        for number in (signal.SIGTERM, signal.SIGKILL):
            process = subprocess.Popen([LAUNCH, "-n", "2", "sh", "-c", start + "echo ready; sleep 60"],
                                       stdout=subprocess.PIPE, text=True)
            process.stdout.readline(), process.stdout.readline()
            process.send_signal(number)
            process.communicate(timeout=20)
            end = time.time() + 10
            while processes_with(self.mark) and time.time() < end:
                time.sleep(0.02)
            self.assertEqual(processes_with(self.mark), [], number)

    def test_too_few_open_files_are_said_at_once(self):
        for limit in (12, 16, 24, 32, 39):
            done = launch("-n", "2", RANK, "join", "shutdown", preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_NOFILE, (limit, limit)))
            self.assertEqual(done.returncode, 1, limit)
            self.assertRegex(done.stderr, rf"processes need \d+ open files here, and the system allows "
                                          rf"{limit}: raise the limit, as ulimit -n \d+ does")
        done = launch("-n", "2", RANK, "join", "barrier:a", "shutdown",
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # Ranks have the limit that the launcher was started with.
        done = launch("sh", "-c", "ulimit -n", preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (100, 200)))
        self.assertEqual(done.stdout, "[0] 100\n")

    def test_roles_are_told_by_tf_config(self):
        done = launch("--workers=2", "--ps=1", "--chief", "--evaluator", "sh", "-c",
                      'echo "$TF_CONFIG $DTENSOR_NUM_CLIENTS"; case "$TF_CONFIG" in '
                      '*\'"type":"ps"\'*) sleep 60;; *\'"type":"worker"\'*) sleep 60;; esac', timeout=50)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = {}
        for line in done.stdout.splitlines():
            name, _, text = line.partition("] ")
            told[name[1:]] = json.loads(text)
        self.assertEqual(sorted(told), ["chief 0", "evaluator 0", "ps 0", "worker 0", "worker 1"])
        clusters = [config["cluster"] for config in told.values()]
        self.assertTrue(all(cluster == clusters[0] for cluster in clusters))
        self.assertEqual({job: len(tasks) for job, tasks in clusters[0].items()},
                         {"chief": 1, "worker": 2, "ps": 1})
        addresses = [address for tasks in clusters[0].values() for address in tasks]
        self.assertEqual(len(set(addresses)), 4)
        for name, config in told.items():
            job, index = name.split()
            self.assertEqual(config["task"], {"type": job, "index": int(index)})

    def test_the_end_of_a_role_is_the_runs_or_not(self):
        def run(*arguments):
            script = 'case "$TF_CONFIG" in *\'"type":"%s"\'*) %s;; esac; sleep %s'
            return launch("--grace=0.1", *arguments[:-3], "sh", "-c", script % arguments[-3:])
        # A worker of parameter servers is done without.
        done = run("--chief", "--workers=1", "--ps=1", "worker", "exit 3", "0.5; exit 0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"worker 0 \(process \d+\) has ended: exit status 3; the others go on")
        # A server is not, and neither is a worker where there is none.
        done = run("--chief", "--workers=1", "--ps=1", "ps", "exit 4", "60")
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"ps 0 \(process \d+ on host localhost\) failed first: exit status 4")
        done = run("--chief", "--workers=1", "worker", "exit 5", "60")
        self.assertEqual(done.returncode, 5)
        done = launch("--ps=1", "true")
        self.assertRegex(done.stderr, "expected a chief or workers, which train")
        self.assertEqual(launch("-n", "2", "--ps=1", "true").returncode, 2)

    def test_a_file_of_hosts_says_what_there_is(self):
        with tempfile.TemporaryDirectory() as folder:
            hosts = pathlib.Path(folder, "hosts")
            hosts.write_text("# the first start\nlocalhost 4\n")
            script = (f'echo start $MESHLOOM_RESTARTS of $DTENSOR_NUM_CLIENTS; case $MESHLOOM_RESTARTS in '
                      f'0) echo "localhost 2" > {hosts};; 1) echo "localhost 3" > {hosts};; *) exit 0;; esac; '
                      f'exec {RANK} join barrier:a 1@signal:9 barrier:b')
            done = launch("--hosts-file", str(hosts), "--max-restarts", "5", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted({line[4:] for line in done.stdout.splitlines()}),
                         ["start 0 of 4", "start 1 of 2", "start 2 of 3"])

    def test_bad_arguments_are_said(self):
        self.assertRegex(launch("-n", "2").stderr, "give a program to start")
        self.assertRegex(launch("-n", "0", "true").stderr, "processes")
        self.assertRegex(launch("--hosts", "a:x", "true").stderr,
                         'expected a number of processes for host a, got "x": such as "a,b:2"')
        self.assertRegex(launch("-n", "5", "--hosts", "a:2", "true").stderr,
                         "5 processes do not fit the hosts, which take 2")
        done = launch("-n", "2", "no-such-program")
        self.assertEqual(done.returncode, 127)
        self.assertRegex(done.stderr, "there is no program 'no-such-program' on PATH")

    def test_a_coordinator_on_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            published = pathlib.Path(folder, "address")
            coordinator = subprocess.Popen([str(BIN / "mesh-coordinator"), "-n", "2", "--publish",
                                            str(published)], stderr=subprocess.PIPE, text=True)
            while not published.exists():
                time.sleep(0.01)
            told = dict(line.split("=") for line in published.read_text().split())
            ranks = [subprocess.Popen([RANK, "join", "barrier:a", "shutdown"], env={
                **os.environ, **told, "DTENSOR_CLIENT_ID": str(rank), "DTENSOR_NUM_CLIENTS": "2"})
                for rank in range(2)]
            self.assertEqual([rank.wait(20) for rank in ranks], [0, 0])
            _, err = coordinator.communicate(timeout=10)
            self.assertEqual(coordinator.returncode, 0)
            self.assertRegex(err, r"listens on localhost:\d+ \(this machine alone reaches it\), without TLS, "
                                  "without a token, 2 processes")


if __name__ == "__main__":
    unittest.main()
