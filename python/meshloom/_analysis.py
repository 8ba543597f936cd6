# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program sends between devices, by mesh-opt."""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import Any

_KINDS = (
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "all_to_all",
    "permute",
    "halo_exchange",
)


class CollectivesError(AssertionError):
    """A program sends something else than a test allows."""


@dataclasses.dataclass(frozen=True)
class Collective:
    """The collectives of one kind over the same mesh axes."""

    kind: str
    axes: tuple[str, ...]
    #: How many run in one step; None: a loop's number of turns is not known.
    count: int | None
    #: Bytes that each device sends in one step; None: as for `count`.
    bytes: int | None

    def __str__(self) -> str:
        count = "any number" if self.count is None else str(self.count)
        sent = "any number of" if self.bytes is None else str(self.bytes)
        return f"{self.kind} over [{', '.join(self.axes)}]: {count} in a step, {sent} bytes"


@dataclasses.dataclass(frozen=True)
class ArgumentLayout:
    """The layout that was found for an argument, or for several with one name pattern."""

    #: "argument 'x'", or "arguments 'layers.*.w'".
    name: str
    #: The numbers of the arguments.
    arguments: tuple[int, ...]
    #: For each dim None, an axis, or a tuple of axes: `PartitionSpec(*layout.spec)` is JAX's.
    spec: tuple[None | str | tuple[str, ...], ...]


def tool_path() -> pathlib.Path:
    """Returns the path of mesh-opt.

    This is the value of MESHLOOM_OPT, or else `mesh-opt` beside this package, in the build
    folder of a clone, or on PATH. Raises FileNotFoundError if there is none.
    """
    named = os.environ.get("MESHLOOM_OPT")
    here = pathlib.Path(__file__).resolve().parent
    found = shutil.which("mesh-opt")
    candidates = (
        [pathlib.Path(named)]
        if named
        else [here / "mesh-opt", here.parents[1] / "build" / "bin" / "mesh-opt"]
        + ([pathlib.Path(found)] if found else [])
    )
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(
        f"Meshloom's mesh-opt is in none of these places: {', '.join(map(str, candidates))}. "
        f"MESHLOOM_OPT can name it; in a clone, `scripts/build release mesh-opt` builds it."
    )


def _program(program: Any, args: tuple, kwargs: dict, with_lines: bool) -> bytes:
    """The bytes of the StableHLO program that `program` stands for.

    `with_lines`: its ops name their lines of Python.
    """
    if isinstance(program, (str, bytes)):
        if args or kwargs:
            raise TypeError("a lowered program takes no arguments; a jitted function does")
        return program.encode() if isinstance(program, str) else program
    if hasattr(program, "lower"):
        program = program.lower(*args, **kwargs)
    elif args or kwargs:
        raise TypeError(f"expected a jitted function, got a {type(program).__name__}")
    if not hasattr(program, "as_text"):
        raise TypeError(
            "expected a jitted function with its arguments, a lowered program, or StableHLO "
            f"as text or bytes, got a {type(program).__name__}"
        )
    return (program.as_text(debug_info=True) if with_lines else program.as_text()).encode()


def _run(
    program: Any,
    args: tuple,
    kwargs: dict,
    flags: list[str],
    output: str,
    with_lines: bool = False,
) -> tuple[str, str]:
    """Returns what mesh-opt prints on a program, and the content of the file `output`.

    Flags name that file in the folder of the call as `{output}`.
    """
    source = _program(program, args, kwargs, with_lines)
    with tempfile.TemporaryDirectory(prefix="meshloom-") as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_bytes(source)
        written = pathlib.Path(folder) / output
        done = subprocess.run(
            [str(tool_path()), str(path), *(flag.format(output=written) for flag in flags)],
            capture_output=True,
            text=True,
        )
        text = (done.stderr + done.stdout).replace(f"{path}:", "program:")
        if done.returncode != 0:
            raise ValueError(f"mesh-opt cannot compile the program:\n{text}")
        return text, written.read_text() if written.exists() else ""


def _compile(program: Any, args: tuple, kwargs: dict, machine: str) -> tuple[str, dict]:
    """Returns mesh-opt's explanation of a program, and its contract."""
    flags = ["--contract={output}", "--update-contract", f"--machine={machine}", "--explain"]
    text, contract = _run(program, args, kwargs, flags, "contract.json")
    return text, json.loads(contract)


def explain(
    program: Any,
    *args: Any,
    machine: str = "ring",
    page: str | os.PathLike | None = None,
    **kwargs: Any,
) -> str:
    """Returns which collectives a program needs, why, and its predicted memory and time.

    `program` is a jitted function, which is lowered for `args` and `kwargs`, or a lowered
    program. `machine` is a machine model: "ring" (devices with memories of their own),
    "shared-memory", "gpu:h100", "tpu:v5e:2x4", or the path of a JSON file. `page` is the path
    of a file that ends in .html: a page that shows all of it is written there (docs/Explain.md).
    Raises ValueError where the program cannot be compiled, the machine cannot have its devices
    or the page cannot be written, FileNotFoundError where there is no mesh-opt.
    """
    flags = ["--predict", f"--machine={machine}", "--explain"]
    if page is not None:
        flags.append(f"--explain={pathlib.Path(page).absolute()}")
    return _run(program, args, kwargs, flags, "none", with_lines=True)[0]


def predict(
    program: Any,
    *args: Any,
    machine: str = "ring",
    accumulate_gradients: int = 1,
    **kwargs: Any,
) -> dict[str, Any]:
    """Returns the predicted memory and time of one execution of a program.

    The dict is the object that `mesh-opt --predict -o FILE.json` writes: "time_ps" in
    picoseconds, "memory" with "peak_bytes" of each device and the tensors "at_peak",
    "steps", "bytes_sent", "fits". `accumulate_gradients` is the number of microbatches that
    a training step runs its batch in (docs/AutomaticLayouts.md). The other parameters and
    errors are those of explain().
    """
    flags = ["--predict", f"--machine={machine}", "-o", "{output}"]
    if accumulate_gradients != 1:
        flags.append(f"--accumulate-gradients={accumulate_gradients}")
    return json.loads(_run(program, args, kwargs, flags, "prediction.json")[1])


def predict_pipeline(
    program: Any,
    *args: Any,
    machine: str = "ring",
    scope: str = "stage",
    stages: int | None = None,
    microbatches: int | None = None,
    schedule: str = "1f1b",
    sets: int | None = None,
    **kwargs: Any,
) -> dict[str, Any]:
    """Returns the predicted memory and time of a training step in stages.

    The ops of scope i are in jax.named_scope(f"{scope}{i}"). Consecutive scopes are put
    together to `stages` stages by their predicted times; None makes each a stage. Each stage
    is on devices of its own, with the mesh of the program. `microbatches` is the number of
    parts of the batch; None is that of the stages. `schedule` is "gpipe", "1f1b",
    "interleaved" with a number of `sets` of devices, or "zero-bubble"
    (docs/ModelParallelism.md). The dict has "time_ps" of a step, "bubble", the part of the
    time in which devices wait, and for each of the "stages" its "scopes", its times for a
    microbatch, how many microbatches it has "held", and the "peak_bytes" of its devices.
    The other parameters and errors are those of explain().
    """
    options = {
        "scope": scope,
        "stages": stages,
        "microbatches": microbatches,
        "schedule": schedule,
        "sets": sets,
    }
    text = ",".join(f"{key}={value}" for key, value in options.items() if value is not None)
    flags = [f"--pipeline={text}", f"--machine={machine}", "-o", "{output}"]
    return json.loads(_run(program, args, kwargs, flags, "plan.json", with_lines=True)[1])


def _layout_flags(
    mesh: dict[str, int] | int | None, memory: int, *, reconsider: bool = False
) -> list[str]:
    """Returns the flags of mesh-opt that lay out the arguments without a sharding."""
    flags = [f"--auto-layout={memory}"] + ["--reconsider"] * reconsider
    if mesh is None:
        return flags
    axes = mesh.items() if isinstance(mesh, dict) else ()
    text = ",".join(f"{axis}={size}" for axis, size in axes) or str(mesh)
    return [*flags, f"--mesh={text}"]


def auto_layout(
    program: Any,
    *args: Any,
    mesh: dict[str, int] | int | None = None,
    machine: str = "ring",
    memory: int = 0,
    reconsider: bool = False,
    **kwargs: Any,
) -> list[ArgumentLayout]:
    """Returns layouts of a program's arguments by which a step takes the least time.

    `mesh` maps the names of axes to their sizes, or is a number of devices, whose best mesh
    is found; None is the program's own. A device holds at most `memory` bytes at a time; 0
    is any number. Arguments that have a sharding keep it; with `reconsider` it is a start
    that may change, and a step is never predicted to be slower than with it. The other
    parameters and errors are those of explain(); it is a ValueError too if no layouts keep
    to the memory.
    """
    layout_flags = _layout_flags(mesh, memory, reconsider=reconsider)
    flags = [*layout_flags, f"--machine={machine}", "-o", "{output}"]
    plan = json.loads(_run(program, args, kwargs, flags, "plan.json")[1])

    def dim(axes: list[str]) -> None | str | tuple[str, ...]:
        return None if not axes else axes[0] if len(axes) == 1 else tuple(axes)

    return [
        ArgumentLayout(
            entry["annotation"],
            tuple(entry["arguments"]),
            tuple(dim(axes) for axes in entry["layout"]["dims"]),
        )
        for entry in plan["annotations"]
        if entry["arguments"]
    ]


def suggest(
    program: Any,
    *args: Any,
    mesh: dict[str, int] | int | None = None,
    machine: str = "ring",
    memory: int = 0,
    **kwargs: Any,
) -> dict[str, Any]:
    """Returns what changes of single layout annotations save or cost.

    The dict is the object that `mesh-opt --suggest -o FILE.json` writes: "costs" of the
    program, "suggestions" with the "goal" that each helps most, and "annotations" with the
    "next_best" layout and all "changes". With a `mesh` or `memory`, arguments without a
    sharding are laid out first, as auto_layout() does, and "memory_choices" says how the
    program keeps to the memory. The other parameters and errors are those of explain().
    """
    flags = ["--suggest", f"--machine={machine}", "-o", "{output}"]
    if mesh is not None or memory:
        flags += _layout_flags(mesh, memory)
    return json.loads(_run(program, args, kwargs, flags, "advice.json")[1])


def collectives(
    program: Any, *args: Any, machine: str = "ring", **kwargs: Any
) -> list[Collective]:
    """Returns what a program sends in one step, one entry for each kind and its mesh axes.

    The parameters and errors are those of explain().
    """
    (entries,) = _compile(program, args, kwargs, machine)[1].values()
    return [
        Collective(
            entry["collective"], tuple(entry["axes"]), entry.get("count"), entry.get("bytes")
        )
        for entry in entries
    ]


def assert_collectives(
    program: Any,
    *args: Any,
    machine: str = "ring",
    max_bytes: int | None = None,
    all_reduce: int = 0,
    all_gather: int = 0,
    reduce_scatter: int = 0,
    all_to_all: int = 0,
    permute: int = 0,
    halo_exchange: int = 0,
    **kwargs: Any,
) -> None:
    """Fails unless a program has exactly these numbers of collectives in one step.

    Kinds that are not named are forbidden. `max_bytes` is what each device may send in one
    step. Raises CollectivesError, an AssertionError that says what differs, which
    collectives there are, and why. The other parameters and errors are those of explain().
    """
    expected = dict(
        zip(
            _KINDS,
            (all_reduce, all_gather, reduce_scatter, all_to_all, permute, halo_exchange),
        )
    )
    text, contracts = _compile(program, args, kwargs, machine)
    (entries,) = contracts.values()
    problems = []
    for kind, wanted in expected.items():
        counts = [entry.get("count") for entry in entries if entry["collective"] == kind]
        if None in counts:
            problems.append(f"expected {wanted} {kind}, got a number known only at run time")
        elif sum(counts) != wanted:
            problems.append(f"expected {wanted} {kind}, got {sum(counts)}")
    if max_bytes is not None:
        sent = [entry.get("bytes") for entry in entries]
        if None in sent:
            problems.append("the bytes that each device sends are known only at run time")
        elif sum(sent) > max_bytes:
            problems.append(f"each device sends {sum(sent)} bytes, more than {max_bytes}")
    if problems:
        raise CollectivesError("; ".join(problems) + "\n" + text)
