#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that every include obeys the layer table of docs/Architecture.md, and
that the table here allows no layer one that stands below it there.

Walks the #include lines (and the include lines of .td files) of include/, lib/,
mlir-dialects/, tools/ and examples/, and prints each one that the table forbids
as file:line. Exits 1 if there is any. Run by ctest as `include_table`.

usage: check_includes.py [ROOT]
"""
import re
import sys
from pathlib import Path

# The table of the projects and rooms that a header and a source of each layer
# may include, besides the standard library and the layer itself. Layers are
# folders; words in lower case are outside projects. A layer that is not named
# here does not exist.
MLIR = {"mlir", "llvm", "LLVM.h"}
DIALECTS = {"Core", "Dialect"} | MLIR
FLOW = DIALECTS | {"ControlFlow"}
LAYOUT = FLOW | {"Layout/Search", "Options"}
PASSES = LAYOUT | {"Layout", "SPMD", "Autodiff"}
TARGETS = {"Targets", "Targets/Kernels", "Targets/CPU", "Targets/CUDA"}
TARGETS |= {"Targets/StableHLO"}
COMPILER = PASSES | TARGETS | {"fmt"}
# A backend whose memory threads of the host read and write.
HOST = {"Core", "Runtime", "Runtime/Plan", "Runtime/Library", "fmt"}
USER = {"Core", "API"}
TABLE = {
    # layer: (headers, sources)
    # Users include Core's headers by way of API's: they need nothing but C++.
    "Core": (set(), {"fmt", "system"}),
    "Support": (
        {"Core", "json"},
        {"Core", "fmt", "json", "openssl", "zlib", "system"},
    ),
    "LLVM.h": ({"mlir", "llvm"}, set()),
    "Dialect": (DIALECTS, DIALECTS | {"fmt"}),
    "Math": (DIALECTS, DIALECTS),
    "Lanes": (DIALECTS | {"Math"}, FLOW | {"Math"}),
    "Import": (DIALECTS, DIALECTS | {"ControlFlow", "Lanes", "Math", "fmt"}),
    # The options of passes on a command line: the one place that reads them.
    "Options": ({"Core", "llvm"}, {"Core", "llvm", "Support"}),
    "ControlFlow": (DIALECTS, DIALECTS | {"fmt"}),
    "Autodiff": (FLOW, FLOW | {"fmt"}),
    "Layout/Search": ({"Core"}, {"Core", "fmt"}),
    "Layout": (LAYOUT, LAYOUT | {"fmt"}),
    # Support: IR says by which machine it was made, in text.
    "SPMD": (FLOW | {"Options"}, FLOW | {"Options", "Support", "fmt"}),
    "Targets": (DIALECTS, DIALECTS),
    "Targets/Kernels": (FLOW | {"SPMD"}, FLOW | {"SPMD", "fmt"}),
    "Targets/CPU": (
        FLOW | {"Targets", "Targets/Kernels"},
        # Support: kernels that were compiled before.
        FLOW | {"Targets", "Targets/Kernels", "Support", "fmt", "lld", "system"},
    ),
    "Targets/CUDA": (
        FLOW | {"Targets", "Targets/Kernels"},
        # Targets/CPU: the functions of library calls, which the host runs.
        FLOW | {"Targets", "Targets/Kernels", "Targets/CPU"},
    ),
    "Targets/StableHLO": (
        FLOW | {"SPMD", "Targets"},
        FLOW | {"SPMD", "Targets", "fmt"},
    ),
    # Support: what is compiled says for which machine, in text.
    "Compiler": (COMPILER, COMPILER | {"Lanes", "Predict", "Support", "system"}),
    "Interpreter": (DIALECTS, DIALECTS | {"fmt"}),
    "Runtime": ({"Core"}, {"Core", "fmt", "system"}),
    "Runtime/Plan": (
        {"Core", "Runtime"},
        {"Core", "Runtime", "fmt", "system"},
    ),
    # The needs of a program, from the plans that the runtime makes of it.
    "Predict": ({"Core"}, {"Core", "Runtime/Plan", "fmt"}),
    # A page of all that is known of a compiled program.
    "Explain": (
        {"Core"},
        {"Core", "Predict", "Runtime/Plan", "Support", "fmt", "json"},
    ),
    # Programs that are compiled and predicted with changed annotations.
    "Advice": ({"Core", "Compiler"}, COMPILER | {"Compiler", "Predict"}),
    "Runtime/Transport": (
        {"Core", "Runtime"},
        {"Core", "Runtime", "fmt", "system"},
    ),
    "Runtime/Backends/PJRT": ({"Core", "Runtime"}, {"Core", "Runtime", "fmt", "system"}),
    "Runtime/Library": (
        {"Core", "Runtime"},
        {"Core", "Runtime", "fmt", "dnnl", "system"},
    ),
    # Shared by backends whose devices have one memory.
    "Runtime/Plan/Shared": (
        {"Core", "Runtime", "Runtime/Plan", "Runtime/Library"},
        {"Core", "Runtime", "Runtime/Plan", "Runtime/Library", "fmt"},
    ),
    "Runtime/Backends/CPU": (
        {"Core", "Runtime"},
        HOST | {"Runtime/Plan/Shared", "tbb", "system"},
    ),
    "Runtime/Backends/CUDA": (
        {"Core", "Runtime"},
        HOST | {"Runtime/Plan/Shared", "system"},
    ),
    "Runtime/Backends/Reference": ({"Core", "Runtime"}, HOST),
    # Who runs the program, as users are told it by their cluster.
    "Cluster": ({"Core"}, {"Core", "fmt", "json", "system"}),
    "Cluster/Coordination": (
        {"Core", "Cluster", "Runtime", "grpc", "system"},
        {"Core", "Cluster", "Runtime", "Support", "fmt", "grpc", "protobuf", "openssl", "system"},
    ),
    # A library for JAX's process: the compiler and the runtime behind a C interface.
    "PJRTPlugin": (
        set(),
        DIALECTS
        | {"PJRTPlugin", "Compiler", "Import", "Runtime", "Runtime/Plan", "Runtime/Transport", "Support", "fmt"}
        | {"Predict", "Runtime/Backends/CPU", "Runtime/Backends/PJRT"},
    ),
    # How a process joins the others of its program.
    "Processes": (
        {"Core", "Cluster", "Cluster/Coordination", "Runtime", "Runtime/Transport"},
        {"Core", "Cluster", "Cluster/Coordination", "Runtime", "Runtime/Plan"}
        | {"Runtime/Transport", "fmt", "system"},
    ),
    # For users of {fmt}: the only public header that needs more than C++.
    "Fmt": ({"Core", "API", "fmt"}, set()),
    # Traces, tapes, and what is compiled of them. It knows no op that users call.
    "Engine": (
        {"Core", "API handles", "Dialect", "Autodiff", "Compiler", "Runtime"}
        | {"Processes"}
        | MLIR,
        FLOW
        | {"API handles", "Autodiff", "Compiler", "Processes", "Runtime"}
        | {"Runtime/Library", "Runtime/Plan", "Runtime/Backends/PJRT"}
        | {"Support", "fmt", "system"},
    ),
    "API": (
        {"Core"},
        DIALECTS
        | {
            "Advice",
            "Autodiff",
            "Compiler",
            "Engine",
            "Explain",
            "Lanes",
            "Math",
            "Predict",
            "Runtime",
        }
        | {"Runtime/Backends/PJRT", "Cluster", "Support", "fmt"},
    ),
    "Data": (USER, USER | {"Support", "fmt", "json", "zlib", "protobuf", "system"}),
    "Distribute": (USER | {"Cluster", "Data"}, USER | {"Cluster", "Data", "fmt"}),
    "Distribute/ParameterServer": (
        USER | {"Data", "Distribute", "Cluster", "Cluster/Coordination"},
        USER | {"Data", "Distribute", "Cluster", "Cluster/Coordination"}
        | {"fmt", "grpc", "system"},
    ),
    "NN": (
        USER | {"Data", "Distribute"},
        USER | {"Data", "Distribute"} | {"Support", "fmt", "json", "protobuf", "system"},
    ),
    # Reads from TF_CONFIG which part this process has, parameter servers' too.
    "NN/Estimator": (
        USER | {"Data", "Distribute", "NN"},
        USER
        | {"Data", "Distribute", "Distribute/ParameterServer", "NN", "Cluster"}
        | {"Support", "fmt", "system"},
    ),
    # Meshloom.h, all of the user API.
    "Meshloom.h": (
        USER | {"Cluster", "Data", "Distribute", "Distribute/ParameterServer", "NN", "NN/Estimator"},
        set(),
    ),
    "examples": (None, {"API", "Data", "Distribute", "NN", "Meshloom.h", "system"}),
}
# The headers of API that declare the types whose values the engine creates, and
# not an op: what a layer that names "API handles" may include of API.
HANDLES = {
    f"meshloom/API/{name}.h"
    for name in (
        "ConcreteFunction",
        "Errors",
        "Function",
        "Logging",
        "Mesh",
        "NameScope",
        "Processes",
        "RemoteVariables",
        "Tensor",
        "TransferTimeout",
        "Variable",
        "VariableCreation",
    )
}
# Headers of Core that users include beside Meshloom.h, where they use the types.
USERS_CORE = {
    f"meshloom/Core/{name}.h" for name in ("Compiled", "MachineModel", "Profile")
}
# tools/ may include everything; so may test/ and benchmark/, which are not read.

OUTSIDE = [
    ("mlir", r"mlir(-c)?/"),
    ("llvm", r"llvm(-c)?/"),
    ("lld", r"lld/"),
    ("fmt", r"fmt/"),
    ("json", r"nlohmann/"),
    ("zlib", r"zlib\.h$"),
    ("grpc", r"(grpcpp/|grpc/|.*\.grpc\.pb\.h$)"),
    ("protobuf", r"(google/protobuf/.*|.*\.pb\.h)$"),
    ("openssl", r"openssl/"),
    ("tbb", r"(oneapi/)?tbb/"),
    ("dnnl", r"(oneapi/dnnl/|dnnl)"),
    ("cli11", r"CLI/"),
    # C and POSIX; C++ names of C headers have no .h.
    ("system", r"((sys|arpa|linux|netinet)/\w+|sanitizer/\w+|unistd|dirent|dlfcn|elf|link|fcntl|pthread|netdb|poll|sched|spawn|signal|cpuid|cxxabi|immintrin)\.h$"),
    ("std", r"\w+$"),
]

ROOTS = ["include", "lib", "mlir-dialects", "tools", "examples"]
SUFFIXES = {".h", ".cpp", ".td", ".inc"}
LINE = re.compile(r'^\s*#?\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def layer_of_folder(folders):
    """The innermost folder of a path that is a layer of its own, else the first."""
    for length in range(len(folders), 0, -1):
        if "/".join(folders[:length]) in TABLE:
            return "/".join(folders[:length])
    return folders[0]


def layer_of_header(path):
    """The layer of an include path such as meshloom/Core/Mesh.h."""
    if path == "meshloom/Support/LLVM.h":
        return "LLVM.h"
    if path == "meshloom/Meshloom.h":
        return "Meshloom.h"
    if path.startswith("meshloom/"):
        return layer_of_folder(path.split("/")[1:-1])
    for name, pattern in OUTSIDE:
        if re.match(pattern, path):
            return name
    return None


def layer_of_file(path):
    """The layer of a file, by its path below the root."""
    parts = path.parts
    if parts[0] in ("tools", "examples"):
        return parts[0]
    if parts[0] == "mlir-dialects":
        return "Dialect"
    if parts[0] == "include":
        return layer_of_header("/".join(parts[1:]))
    return layer_of_folder(parts[1:-1])


def check_line(root, file, text):
    """Why this include is forbidden, or None."""
    match = LINE.match(text)
    if not match:
        return None
    path = match.group(1) or match.group(2)
    layer = layer_of_file(file)
    beside = (root / file.parent / path).resolve()
    if match.group(1) and beside.is_file():
        if not beside.is_relative_to(root.resolve()):
            return f'"{path}" lies outside the repository'
        beside = beside.relative_to(root.resolve())
        target = layer_of_file(beside)
        is_within = layer == target or layer.startswith(target + "/")
        if beside.parts[0] == "lib" and not is_within and layer != "tools":
            return f'"{path}" is private to {target}: its place is include/meshloom'
    else:
        target = layer_of_header(path)
    if target is None:
        return f'"{path}" belongs to no layer and no project in the table'
    if layer == "tools":
        return "nothing includes tools" if target == "examples" else None
    if layer not in TABLE:
        return f"'{layer}' is not a layer in the table"
    header = file.parts[0] == "include" or (
        layer == "Dialect" and file.suffix in (".h", ".td")
    )
    allowed = TABLE[layer][0 if header and TABLE[layer][0] is not None else 1]
    if target in (layer, "std") or target in allowed:
        return None
    if path in HANDLES and "API handles" in allowed:
        return None
    if path in USERS_CORE and layer == "examples":
        return None
    kind = "header" if header else "source"
    return (
        f'a {kind} of {layer} may not include "{path}" ({target}); '
        f"it may include std, {', '.join(sorted({layer} | allowed))}"
    )


def picture(text):
    """The layers of docs/Architecture.md's table, from the top, a list a row."""
    rows = re.findall(r"^\| ([^|]+?) \|[^|]*\|[^|]*\|$", text, re.MULTILINE)
    rows = rows[rows.index("layer") + 1 :]
    names = {"mlir-dialects/": "Dialect"}
    return [
        [names.get(name, name.removesuffix("/X")) for name in row.split(", ")]
        for row in rows
    ]


def check_picture(rows, table=TABLE):
    """What the table here allows and the documented one, by its order, does not."""

    def row_of(layer):
        for place, row in enumerate(rows):
            if layer in row:
                return place
        above = layer.rpartition("/")[0]
        return row_of(above) if above else None

    found = []
    for layer, (headers, sources) in table.items():
        if layer.endswith(".h"):
            continue
        place = row_of(layer)
        if place is None:
            found.append(f"docs/Architecture.md: its table has no layer {layer}")
            continue
        for other in sorted(sources | (headers or set())):
            if other not in table or other.endswith(".h"):
                continue
            other_place = row_of(other)
            if other_place is None or other_place > place:
                found.append(
                    f"docs/Architecture.md: {layer} may include {other}, which "
                    "does not stand above it in the table"
                )
    return found


# Rooms whose headers users include.
INSTALLED = {"API", "Cluster", "Core", "Data", "Distribute", "Fmt", "NN", "Meshloom.h"}


def check_private(root):
    """Headers under include/ that nothing but the sources of their room includes:
    their place is beside these sources."""
    others = set()
    for top in [*ROOTS, "test", "benchmark"]:
        for path in (root / top).rglob("*"):
            if path.suffix not in SUFFIXES:
                continue
            file = path.relative_to(root)
            for text in path.read_text(encoding="utf-8").splitlines():
                match = LINE.match(text)
                header = match and (match.group(1) or match.group(2))
                if not header or not header.startswith("meshloom/"):
                    continue
                is_source = file.parts[0] == "lib"
                if not is_source or layer_of_file(file) != layer_of_header(header):
                    others.add(header)
    found = []
    for path in sorted((root / "include").rglob("*.h")):
        header = "/".join(path.relative_to(root / "include").parts)
        layer = layer_of_header(header)
        if layer.split("/")[0] not in INSTALLED and header not in others:
            found.append(
                f"include/{header}: only {layer} includes it: its place is "
                f"lib/{layer}"
            )
    return found


def check(root):
    """All violations below `root`, as lines of text."""
    found = check_private(root)
    documented = root / "docs/Architecture.md"
    if documented.exists():
        found += check_picture(picture(documented.read_text(encoding="utf-8")))
    for top in ROOTS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            file = path.relative_to(root)
            lines = path.read_text(encoding="utf-8").splitlines()
            for number, text in enumerate(lines, 1):
                why = check_line(root, file, text)
                if why:
                    found.append(f"{file}:{number}: {why}")
    return found


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1])
    violations = check(root.resolve())
    for line in violations:
        print(line)
    if violations:
        print(f"{len(violations)} includes break the layer table.")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
