#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache of compiled programs, between processes: a second start compiles
nothing, with the same results; what is damaged is compiled again; other options
have other entries; processes may share a folder at the same time.

  cache_test.py MESH_RUN PROGRAM
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def start(mesh_run, program, folder, out, *options, **environment):
    """A process that runs the program, with its cache in `folder`."""
    command = [mesh_run, program, f"--output-dir={out}", f"--stats={out}/stats.json"]
    return subprocess.Popen(
        [*command, *options],
        env={**os.environ, "MESHLOOM_CACHE": str(folder), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process, out):
    """What it counted, the bytes of its results, and its messages."""
    _, messages = process.communicate()
    assert process.returncode == 0, messages
    counts = json.loads((pathlib.Path(out) / "stats.json").read_text())["cache"]
    results = {p.name: p.read_bytes() for p in pathlib.Path(out).glob("*.npy")}
    assert results
    return counts, results, messages


def run(mesh_run, program, folder, *options, **environment):
    with tempfile.TemporaryDirectory() as out:
        return finish(start(mesh_run, program, folder, out, *options, **environment), out)


def entries(folder):
    return sorted(p for p in folder.iterdir())


def check(mesh_run, program, scratch):
    cache = scratch / "cache"
    counts, expected, messages = run(mesh_run, program, cache)
    assert not messages, messages
    stored = len(entries(cache))
    assert counts["misses"] == counts["stored"] == stored > 1, counts
    assert not counts["disk_hits"] and not counts["memory_hits"], counts

    # A second start.
    def again(*options, **environment):
        counts, results, messages = run(mesh_run, program, cache, *options, **environment)
        assert results == expected
        assert not messages, messages
        return counts

    counts = again()
    assert counts["disk_hits"] == stored and not counts["misses"], counts

    # Damaged and cut short: each is compiled again, once.
    for entry in entries(cache):
        data = bytearray(entry.read_bytes())
        data[len(data) * 2 // 3] ^= 1
        entry.write_bytes(data)
    counts = again()
    assert counts["rejected"] == stored == counts["stored"], counts
    assert again()["misses"] == 0
    for entry in entries(cache):
        entry.write_bytes(entry.read_bytes()[:-1])
    counts = again()
    assert counts["rejected"] == stored == counts["stored"], counts
    assert again()["misses"] == 0

    # A kernel was removed, the program is there.
    kernels = [entry for entry in entries(cache) if entry.name.startswith("kernel")]
    kernels[0].unlink()
    counts = again()
    assert counts["stored"] >= 1, counts
    assert again()["misses"] == 0

    # Other options, other programs. Kernels may be the same.
    for options in (["--no-refine"], ["--machine=ring"], ["--workers=3"]):
        counts, _, _ = run(mesh_run, program, cache, *options)
        assert counts["misses"] >= 1, (options, counts)
        counts, _, _ = run(mesh_run, program, cache, *options)
        assert counts["misses"] == 0, (options, counts)

    # Kernels that are not optimised have entries of their own.
    quick = {"MESHLOOM_OPTIMIZE_KERNELS": "0"}
    counts, _, _ = run(mesh_run, program, cache, **quick)
    assert counts["stored"] == stored, counts
    counts, _, _ = run(mesh_run, program, cache, **quick)
    assert counts["misses"] == 0, counts

    # Off: nothing is read or written.
    before = [(entry, entry.stat().st_mtime_ns) for entry in entries(cache)]
    counts, results, messages = run(mesh_run, program, "off")
    assert results == expected and not messages
    assert counts["disk_hits"] == counts["stored"] == 0, counts
    assert before == [(entry, entry.stat().st_mtime_ns) for entry in entries(cache)]

    # The user's cache folder, where nobody names one.
    home = scratch / "home"
    with tempfile.TemporaryDirectory() as out:
        finish(start(mesh_run, program, "", out, XDG_CACHE_HOME=str(home)), out)
    assert entries(home / "meshloom")

    # Two processes at once, from nothing.
    both = scratch / "both"
    with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
        processes = [(start(mesh_run, program, both, out), out) for out in (a, b)]
        for process, out in processes:
            counts, results, messages = finish(process, out)
            assert results == expected and not messages, messages
            assert not counts["rejected"], counts
    counts, results, _ = run(mesh_run, program, both)
    assert counts["misses"] == 0 and results == expected, counts

    # A bound on the size; all the same it runs.
    small = scratch / "small"
    counts, results, _ = run(mesh_run, program, small, MESHLOOM_CACHE_BYTES="20000")
    assert results == expected and counts["removed"] > 0, counts
    assert sum(max(4096, e.stat().st_size) for e in entries(small)) <= 20000
    _, results, messages = run(mesh_run, program, small, MESHLOOM_CACHE_BYTES="much")
    assert results == expected and "expected a number of bytes" in messages, messages

    # A folder that others can write is not used, and the message says why.
    shared = scratch / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    counts, results, messages = run(mesh_run, program, shared)
    assert results == expected and not entries(shared)
    assert "other users can write to" in messages, messages
    assert counts["stored"] == 0, counts


def main():
    with tempfile.TemporaryDirectory() as scratch:
        check(sys.argv[1], sys.argv[2], pathlib.Path(scratch))
    print("the cache holds")


if __name__ == "__main__":
    main()
