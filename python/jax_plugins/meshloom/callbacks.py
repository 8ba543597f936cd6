# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of Python functions by a program: jax.pure_callback, jax.debug.print, ...

A program that is compiled calls those of jax.debug.inspect_array_sharding.
"""

import ctypes
import sys
import threading
import traceback

import jax
import ml_dtypes
import numpy as np
from jax._src import config, mesh

# By the number of the element type in PJRT's C interface.
_DTYPES = {
    number: np.dtype(kind)
    for number, kind in {
        1: np.bool_,
        2: np.int8,
        3: np.int16,
        4: np.int32,
        5: np.int64,
        6: np.uint8,
        7: np.uint16,
        8: np.uint32,
        9: np.uint64,
        10: np.float16,
        11: np.float32,
        12: np.float64,
        13: ml_dtypes.bfloat16,
        14: np.complex64,
        15: np.complex128,
        16: ml_dtypes.float8_e5m2,
        17: ml_dtypes.float8_e4m3fn,
        18: ml_dtypes.float8_e4m3b11fnuz,
        19: ml_dtypes.float8_e5m2fnuz,
        20: ml_dtypes.float8_e4m3fnuz,
        21: ml_dtypes.int4,
        22: ml_dtypes.uint4,
        24: ml_dtypes.int2,
        25: ml_dtypes.uint2,
        26: ml_dtypes.float8_e4m3,
        27: ml_dtypes.float8_e3m4,
        28: ml_dtypes.float8_e8m0fnu,
        29: ml_dtypes.float4_e2m1fn,
    }.items()
}


class _Value(ctypes.Structure):
    """CallbackValue of lib/PJRTPlugin/Callbacks.h."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("type", ctypes.c_int64),
        ("rank", ctypes.c_int64),
        ("extents", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("aliased_operand", ctypes.c_int64),
    ]

    def view(self) -> np.ndarray:
        """Returns an array in the memory of the value."""
        dtype = _DTYPES[self.type]
        shape, strides = self.extents[: self.rank], self.strides[: self.rank]
        if 0 in shape:
            return np.empty(shape, dtype)
        span = dtype.itemsize
        for extent, stride in zip(shape, strides):
            span += (extent - 1) * stride
        memory = (ctypes.c_char * span).from_address(self.data)
        return np.ndarray(shape, dtype, memory, strides=strides)


_Caller = ctypes.CFUNCTYPE(
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.c_int64,
    ctypes.POINTER(_Value),
    ctypes.c_int64,
    ctypes.POINTER(_Value),
)

# The text of the last exception in each thread, which the plug-in copies.
_failures = threading.local()


# CallbackKind of lib/PJRTPlugin/Callbacks.h.
_ORDERED_ARRAYS = 1
_BUFFERS = 2


class _Buffer:
    """What a function of jax.experimental.buffer_callback gets for an operand or a result."""

    def __init__(self, array: np.ndarray):
        self._array = array
        self.shape = array.shape
        self.ndim = array.ndim
        self.dtype = array.dtype
        self.writeable = array.flags.writeable

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype, copy=copy)

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class _ExecutionContext:
    """What such a function gets before them."""

    @property
    def stage(self):
        from jax.experimental import buffer_callback

        return buffer_callback.ExecutionStage.EXECUTE

    @property
    def stream(self):
        raise jax.errors.JaxRuntimeError(
            "XLA FFI GPU context is not available: Meshloom's devices have no streams"
        )


class OutsideOfMeshes:
    """A function of the user runs as in a thread of its own: no mesh of the caller is set."""

    def __enter__(self):
        self.mesh = config.device_context.swap_local(mesh.empty_concrete_mesh)
        self.abstract_mesh = config.abstract_mesh_context_manager.swap_local(
            mesh.empty_abstract_mesh)

    def __exit__(self, *exception):
        config.abstract_mesh_context_manager.set_local(self.abstract_mesh)
        config.device_context.set_local(self.mesh)


def _call_with_buffers(function, operands, results):
    views = [operand.view() for operand in operands]
    outputs = [result.view() for result in results]
    for result, output in zip(results, outputs):
        if result.aliased_operand >= 0:
            output[...] = views[result.aliased_operand]
            views[result.aliased_operand] = output.view()
    for view in views:
        view.flags.writeable = False
    function(_ExecutionContext(), *map(_Buffer, views), *map(_Buffer, outputs))


def _call_with_arrays(function, is_ordered, operands, results):
    # Copies: a function may keep what it is called with.
    arguments = [operand.view().copy() for operand in operands]
    for argument in arguments:
        argument.flags.writeable = False
    # Functions of ordered callbacks take a token, and return it.
    values = function(None, *arguments)[1:] if is_ordered else function(*arguments)
    for result, value in zip(results, values or ()):
        result.view()[...] = np.asarray(value)


def _call(function, kind, operand_count, operands, result_count, results):
    try:
        callable_ = ctypes.cast(function, ctypes.py_object).value
        with OutsideOfMeshes():
            if kind == _BUFFERS:
                _call_with_buffers(callable_, operands[:operand_count], results[:result_count])
            else:
                _call_with_arrays(callable_, kind == _ORDERED_ARRAYS, operands[:operand_count],
                                  results[:result_count])
        return None
    except BaseException:
        text = "error calling callback: " + traceback.format_exc()
        _failures.text = ctypes.create_string_buffer(text.encode())
        return ctypes.addressof(_failures.text)


_caller = _Caller(_call)


def address() -> int:
    """Returns the address of the C function that calls a Python function."""
    return ctypes.cast(_caller, ctypes.c_void_p).value


def inspection_address() -> int:
    """Returns the address of jaxlib's C function that tells a Python function a sharding."""
    from jaxlib import xla_client

    caller_and_function = xla_client.encode_inspect_sharding_callback(print)
    return int.from_bytes(caller_and_function[:8], sys.byteorder)
