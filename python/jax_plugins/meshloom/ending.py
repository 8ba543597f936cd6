# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The end of a process that an exception stops, where there are several processes.

JAX has such a process wait for the others at its end, and they wait for its data. So it
leaves them first: their next exchange with it is an exception.
"""

import atexit
import ctypes
import sys

# The plug-in's function that leaves the other processes, once a client is there.
_leave = ctypes.c_void_p()


def _leave_after_exception() -> None:
    # Python sets this variable for an exception that nobody has caught.
    if _leave.value and hasattr(sys, "last_value"):
        ctypes.CFUNCTYPE(None)(_leave.value)()


def address() -> int:
    """Returns the address where the plug-in puts its function.

    JAX's own functions for the end of the process have been registered before, and are
    called later.
    """
    atexit.unregister(_leave_after_exception)
    atexit.register(_leave_after_exception)
    return ctypes.addressof(_leave)
