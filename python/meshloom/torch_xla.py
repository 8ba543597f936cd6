# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshloom as a device of torch_xla: PJRT_DEVICE=MESHLOOM.

torch_xla imports this module by the entry point of the installed package. docs/JAX.md has
an example.
"""

import os

from jax_plugins.meshloom import library_path
from torch_xla.experimental import plugins

__all__ = ["Plugin"]


class Plugin(plugins.DevicePlugin):
    """Meshloom's plug-in, whose options are environment variables."""

    def __init__(self) -> None:
        super().__init__()
        if os.environ.get("PJRT_DEVICE", "").upper() == "MESHLOOM":
            # The plug-in compiles StableHLO, and torch_xla sends HLO by default.
            os.environ["XLA_STABLEHLO_COMPILE"] = "1"

    def library_path(self) -> str:
        return str(library_path())
