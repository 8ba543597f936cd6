# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of how arrays lie on devices, as text."""

from typing import Any


def visualize(array: Any) -> str:
    """Returns a table of which devices hold which part of an array.

    One line for each different part: its range in each dim, its shape, and the ids of its
    devices. `array` is a jax.Array, or anything with `sharding` and `shape`, such as a
    jax.ShapeDtypeStruct. Raises TypeError where it has no sharding.
    """
    sharding = getattr(array, "sharding", None)
    if sharding is None:
        raise TypeError(f"expected an array with a sharding, got a {type(array).__name__}")
    shape = tuple(array.shape)
    parts: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for device, index in sharding.devices_indices_map(shape).items():
        ranges = tuple(
            tuple(part.indices(extent)[:2]) for part, extent in zip(index, shape)
        )
        parts.setdefault(ranges, []).append(device.id)
    lines = [f"shape {list(shape)}, {getattr(sharding, 'spec', sharding)}"]
    for ranges, devices in sorted(parts.items()):
        place = ", ".join(f"{first}:{last}" for first, last in ranges)
        local = [last - first for first, last in ranges]
        ids = ", ".join(map(str, sorted(devices)))
        lines.append(f"[{place}] {local} on device {ids}")
    return "\n".join(lines)
