# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The end of a process that fails, where there are several processes.

JAX has such a process wait for the others at its end, and they wait for its data. So it
leaves them first: their next exchange with it is an exception.
"""

import atexit
import builtins
import ctypes
import sys

# The plug-in's function that leaves the other processes, once a client is there.
_leave = ctypes.c_void_p()
_exit = sys.exit
_exit_code = None


def _exit_with_code(code=None):
    """Is sys.exit, exit and quit; it remembers the code, which Python tells nobody at the end."""
    global _exit_code
    _exit_code = code
    _exit(code)


def _leave_after_failure() -> None:
    # Python sets this variable for an exception that nobody has caught.
    has_failed = hasattr(sys, "last_value") or _exit_code not in (None, 0)
    if _leave.value and has_failed:
        ctypes.CFUNCTYPE(None)(_leave.value)()


def address(processes: int) -> int:
    """Returns the address where the plug-in puts its function.

    JAX's own functions for the end of the process have been registered before, and are
    called later.
    """
    if processes > 1:
        sys.exit = builtins.exit = builtins.quit = _exit_with_code
    atexit.unregister(_leave_after_failure)
    atexit.register(_leave_after_failure)
    return ctypes.addressof(_leave)
