# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plug-in of pytest for run_jax_tests.py: one test in MESHLOOM_SAMPLE_EVERY runs, by sample number."""
import os
import zlib

from absl import flags


def pytest_configure():
    # Tests read flags, such as the folder for their files, which pytest does not parse.
    flags.FLAGS.mark_as_parsed()


def pytest_collection_modifyitems(items):
    every = int(os.environ.get("MESHLOOM_SAMPLE_EVERY", "1"))
    sample = int(os.environ.get("MESHLOOM_SAMPLE", "0"))
    items[:] = [item for item in items if zlib.crc32(item.nodeid.encode()) % every == sample]
