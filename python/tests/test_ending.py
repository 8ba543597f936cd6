# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A process that fails leaves the others; one that ends well does not."""

import subprocess
import sys
from pathlib import Path

import pytest

ENDING = Path(__file__).resolve().parents[1] / "jax_plugins" / "meshloom" / "ending.py"
PROGRAM = f"""
import ctypes, runpy, sys
address = runpy.run_path({str(ENDING)!r})["address"](2)
leave = ctypes.CFUNCTYPE(None)(lambda: print("left"))
ctypes.c_void_p.from_address(address).value = ctypes.cast(leave, ctypes.c_void_p).value
"""


@pytest.mark.parametrize(
    ("end", "leaves"),
    [("", ""), ("sys.exit(0)", ""), ("sys.exit(3)", "left\n"),
     ("sys.exit('no data')", "left\n"), ("exit(3)", "left\n"), ("raise ValueError()", "left\n")],
)
def test_processes_that_fail_leave_the_others(end, leaves):
    done = subprocess.run([sys.executable, "-c", PROGRAM + end], capture_output=True, text=True)
    assert done.stdout == leaves
