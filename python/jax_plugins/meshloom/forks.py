# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes that are forked off after the devices exist.

They have none of the threads of jaxlib's compiler, which would wait for these for ever. So
they get an exception in its place. The plug-in itself refuses to run compiled programs there.
"""

import ctypes
import functools
import os

import jax
from jax._src import compiler
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir


def _refuse_to_compile() -> None:
    """Has this process, a child, compile nothing for Meshloom's devices any more."""
    compile_and_load = compiler.backend_compile_and_load

    def refuse(backend, *args, **kwargs):
        if "Meshloom" not in backend.platform_version:
            return compile_and_load(backend, *args, **kwargs)
        raise jax.errors.JaxRuntimeError(
            "FAILED_PRECONDITION: this process was forked off after Meshloom's devices were "
            "created, and has none of their threads: it may read values, but neither compile "
            "nor run programs. Start processes by 'spawn' (multiprocessing.set_start_method), "
            "or fork before the first computation"
        )

    compiler.backend_compile_and_load = refuse
    # JAX lowers a function by threads, too, before it is compiled. The end of the old pool would
    # wait for its threads: so it has none.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(mlir.global_thread_pool))
    mlir.global_thread_pool = ir.ThreadPool()


@functools.cache
def watch() -> None:
    """Has processes that are forked off from now on refuse to compile."""
    os.register_at_fork(after_in_child=_refuse_to_compile)
