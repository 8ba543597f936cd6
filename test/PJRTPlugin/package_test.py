# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tests of the Python package meshloom: package_test.py MESH_OPT

A Python without pytest is a skip (exit code 77, for ctest).
"""
import importlib.util
import os
import sys
from pathlib import Path

if importlib.util.find_spec("pytest") is None:
    print("SKIP: this Python has no pytest")
    sys.exit(77)

import pytest

PYTHON = Path(__file__).resolve().parents[2] / "python"
os.environ["MESHLOOM_OPT"] = os.path.abspath(sys.argv[1])
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(PYTHON), os.environ.get("PYTHONPATH")]))
sys.path.insert(0, str(PYTHON))
sys.dont_write_bytecode = True
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", str(PYTHON / "tests")]))
