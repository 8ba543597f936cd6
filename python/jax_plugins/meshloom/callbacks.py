# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of Python functions by a program: jax.pure_callback, jax.debug.print, ...

A program that is compiled calls those of jax.debug.inspect_array_sharding.
"""

import ctypes
import sys
import threading
import traceback

import ml_dtypes
import numpy as np

# By the number of the element type in PJRT's C interface.
_TYPES = {
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
}


class _Value(ctypes.Structure):
    """CallbackValue of lib/PJRTPlugin/Callbacks.h."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("type", ctypes.c_int64),
        ("rank", ctypes.c_int64),
        ("extents", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    ]

    def view(self) -> np.ndarray:
        """Returns an array in the memory of the value."""
        dtype = np.dtype(_TYPES[self.type])
        shape = tuple(self.extents[i] for i in range(self.rank))
        strides = tuple(self.strides[i] for i in range(self.rank))
        if 0 in shape:
            return np.empty(shape, dtype)
        span = dtype.itemsize + sum((n - 1) * s for n, s in zip(shape, strides))
        memory = (ctypes.c_char * span).from_address(self.data)
        return np.ndarray(shape, dtype, memory, strides=strides)


_Caller = ctypes.CFUNCTYPE(
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_bool,
    ctypes.c_int64,
    ctypes.POINTER(_Value),
    ctypes.c_int64,
    ctypes.POINTER(_Value),
)

# The text of the last exception in each thread, which the plug-in copies.
_failures = threading.local()


def _call(function, is_ordered, operand_count, operands, result_count, results):
    try:
        # Copies: a function may keep what it is called with.
        arguments = [operands[i].view().copy() for i in range(operand_count)]
        for argument in arguments:
            argument.flags.writeable = False
        callable_ = ctypes.cast(function, ctypes.py_object).value
        # Functions of ordered callbacks take a token, and return it.
        values = callable_(None, *arguments)[1:] if is_ordered else callable_(*arguments)
        for i, value in zip(range(result_count), values or ()):
            results[i].view()[...] = np.asarray(value)
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
