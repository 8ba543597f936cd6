# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# lit configuration of all .mlir tests. Run one folder by hand:
#   python3 /usr/lib/llvm-19/build/utils/lit/lit.py -v BUILD/test/Dialect
import os
import platform
import shutil

import lit.formats

config.name = "Meshloom"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs", "Docs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.meshloom_build, "test")

# Tests name the tools without a path: ours first, then FileCheck, not, ...
config.environment["PATH"] = os.path.pathsep.join(
    [os.path.join(config.meshloom_build, "bin"), config.llvm_tools,
     os.environ["PATH"]])

# Sanitized builds: MLIR's and LLVM's own globals are not ours to free.
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Programs differ little from each other, and run with several options: each kernel is
# compiled once in a run of the tests. No result depends on earlier runs.
cache = os.path.join(config.test_exec_root, "cache")
shutil.rmtree(cache, ignore_errors=True)
config.environment["MESHLOOM_CACHE"] = cache

config.available_features.add("compiler")
config.available_features.add(platform.machine()) # "x86_64", "aarch64"
if os.path.exists(os.path.join(config.meshloom_build, "bin", "mesh-run")):
    config.available_features.add("mesh-run")

# XLA's plug-in for CPUs, where scripts/fetch-pjrt-cpu-plugin has put it or the
# variable names it. Tests that need it say REQUIRES: pjrt, and are reported as
# unsupported without it.
pjrt_cpu = os.environ.get("MESHLOOM_PJRT_CPU_PLUGIN") or os.path.join(
    config.meshloom_build, "pjrt", "xla_cpu_pjrt.so")
if os.path.exists(pjrt_cpu):
    config.available_features.add("pjrt")
    config.substitutions.append(("%pjrt_cpu", pjrt_cpu))
