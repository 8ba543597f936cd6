# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshloom as a platform of JAX: JAX_PLATFORMS=meshloom,cpu.

JAX imports this package when it first looks for devices, and calls initialize().
docs/JAX.md tells how to use the platform.

Environment variables:

MESHLOOM_DEVICES        the number of virtual devices; jax_num_cpu_devices otherwise
MESHLOOM_PJRT_PLUGIN    the path of libmeshloom_pjrt.so, where it is not found by itself
MESHLOOM_REPLACE_CPU    1: Meshloom is JAX's platform "cpu", in the place of JAX's own
"""

import os
import pathlib
import sys

__all__ = ["initialize", "library_path"]

_LIBRARY = "libmeshloom_pjrt.so"
_PLATFORM = "meshloom"


def library_path() -> pathlib.Path:
    """Returns the path of the plug-in's library.

    This is the value of MESHLOOM_PJRT_PLUGIN, or else the library beside this
    package, in the build folder of a clone, or in the `lib` folder of this Python.
    Raises FileNotFoundError, which names all of these, if there is none.
    """
    named = os.environ.get("MESHLOOM_PJRT_PLUGIN")
    if named:
        candidates = [pathlib.Path(named)]
    else:
        here = pathlib.Path(__file__).resolve().parent
        candidates = [
            here / _LIBRARY,
            here.parents[2] / "build" / "lib" / _LIBRARY,
            pathlib.Path(sys.prefix) / "lib" / _LIBRARY,
        ]
    for candidate in candidates:
        if candidate.is_file():
            # A path without a folder is a name that the system's linker looks for elsewhere.
            return candidate.absolute()
    raise FileNotFoundError(
        f"Meshloom's plug-in for JAX is in none of these places: "
        f"{', '.join(map(str, candidates))}. MESHLOOM_PJRT_PLUGIN can name it; in a clone, "
        f"`scripts/build release meshloom_pjrt` builds it."
    )


def _options() -> dict[str, int]:
    """The options that JAX creates a client with."""
    import jax
    from jax._src import distributed

    from . import callbacks, ending, forks, handlers

    forks.watch()
    options = {
        "callback_function": callbacks.address(),
        "handler_function": handlers.address(),
        "inspection_function": callbacks.inspection_address(),
        "leave_function": ending.address(distributed.global_state.num_processes or 1),
    }
    if "MESHLOOM_DEVICES" not in os.environ:
        options["num_devices"] = max(1, jax.config.jax_num_cpu_devices)
    return options


def initialize() -> None:
    """Registers the platform, where the user has asked for it.

    JAX makes a client of every platform that is registered. So a program that
    does not name this one is left alone.
    """
    import jax
    from jax._src import xla_bridge

    named = (jax.config.jax_platforms or "").split(",")
    replaces = os.environ.get("MESHLOOM_REPLACE_CPU") == "1"
    if _PLATFORM not in named and not replaces:
        return
    from . import partitioning

    partitioning.register()
    xla_bridge.register_plugin(
        _PLATFORM, priority=500, library_path=str(library_path()), options=_options
    )
    if replaces:
        factory = xla_bridge._backend_factories[_PLATFORM].factory
        xla_bridge.register_backend_factory("cpu", factory, priority=0, fail_quietly=False)
