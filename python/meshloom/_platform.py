# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choosing Meshloom as JAX's platform from Python."""

from __future__ import annotations

import os


def use(devices: int | None = None, *, workers: int | None = None, machine: str | None = None,
        refine: bool | None = None, deterministic: bool | None = None,
        private_memories: bool | None = None, explain: bool | None = None) -> None:
    """Makes Meshloom the default platform of JAX in this process.

    Call it before anything that asks JAX for devices. `devices` is the number of virtual
    devices, `workers` that of threads; docs/JAX.md explains the others, which are as the
    environment says where they are None. JAX's own client stays beside, as
    `jax.devices("cpu")`. Raises RuntimeError if JAX has its devices already, and ValueError
    if a number is less than 1.
    """
    import jax
    from jax._src import xla_bridge

    for name, number in {"devices": devices, "workers": workers}.items():
        if number is not None and number < 1:
            raise ValueError(f"meshloom.use: {name} must be at least 1, not {number}")
    if xla_bridge.backends_are_initialized():
        raise RuntimeError(
            "meshloom.use: JAX has made its devices already, and keeps them; call "
            "meshloom.use before the first computation, or set JAX_PLATFORMS=meshloom,cpu"
        )
    options = {"devices": devices, "workers": workers, "machine": machine, "refine": refine,
               "deterministic": deterministic, "private_memories": private_memories,
               "explain": explain}
    for name, value in options.items():
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            os.environ[f"MESHLOOM_{name.upper()}"] = text
    jax.config.update("jax_platforms", "meshloom,cpu")
