# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plug-in of pytest for run_jax_tests.py: one test in MESHLOOM_SAMPLE_EVERY runs."""
import os
import zlib


def pytest_collection_modifyitems(items):
    every = int(os.environ.get("MESHLOOM_SAMPLE_EVERY", "1"))
    items[:] = [item for item in items if zlib.crc32(item.nodeid.encode()) % every == 0]
