#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/Reference.md: one line for each public function and type, from the
doc comments of the headers that Meshloom.h includes.

  make_api_list.py            writes the page
  make_api_list.py --check    fails where the page is not current, and where a
                              public declaration has no doc comment
"""
import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include/meshloom"
PAGE = ROOT / "docs/Reference.md"

# Headers that users do not include for their own sake: other headers stand on them.
HIDDEN = ["API/HostTensor.h", "API/MovedFrom.h", "API/RemoteVariables.h", "API/Structure.h",
          "Core/*", "Data/Element.h", "Data/Pipeline.h", "NN/Named.h", "NN/Training/TrainingData.h"]

# Sections of the page, and which headers they have. A header belongs to the first
# section that names it.
SECTIONS = [
    ("Meshes, layouts, devices", ["Core/Layout.h", "Core/Mesh.h", "Core/DType.h", "Core/Version.h", "API/Mesh.h",
                                  "API/Distribute.h", "API/Devices.h"]),
    ("Tensors and variables", ["API/Tensor.h", "API/Variable*.h", "API/Create.h", "API/Index.h", "API/SliceOps.h",
                               "API/Mask.h"]),
    ("Elementwise ops, products, reductions, shapes", ["API/Ops.h", "API/Einsum.h", "API/Rearrange.h",
                                                       "API/PatternOps.h"]),
    ("Picking, updating, ordering and selecting elements", ["API/IndexOps.h", "API/Selection.h", "API/Segments.h",
                                                            "API/Histograms.h"]),
    ("Convolutions, pooling, running reductions", ["API/WindowOps.h"]),
    ("Linear algebra and Fourier transforms", ["API/Linalg*.h"]),
    ("Statistics", ["API/StatisticsOps.h"]),
    ("Random numbers", ["API/Random.h", "API/Distributions.h"]),
    ("Sparse and ragged tensors", ["API/Sparse.h", "API/Ragged.h", "API/EmbeddingLookup.h"]),
    ("Functions, loops and branches", ["API/Function.h", "API/ConcreteFunction.h", "API/ControlOps.h",
                                       "API/EvalShape.h", "API/SavedFunction.h"]),
    ("Gradients and transformations of functions", ["API/GradientTape.h", "API/Transforms.h", "API/ShardMap.h"]),
    ("Ops of your own", ["API/CustomOps.h", "Core/CustomCall.h"]),
    ("Pipelines over devices", ["API/Pipeline.h"]),
    ("Debugging, profiling, logging", ["API/CheckNumerics.h", "API/Debug*.h", "API/Profile.h", "API/NameScope.h",
                                       "API/Logging.h", "API/Cache.h", "API/Errors.h"]),
    ("Several processes", ["API/Processes.h", "Cluster/*"]),
    ("Layers", ["NN/Layers/*"]),
    ("Models and their training", ["NN/Models/*", "NN/Training/Train*.h", "NN/Training/Logs.h", "NN/Training/Plot.h",
                                   "NN/Training/Preemption.h", "NN/MixedPrecision.h", "NN/Module.h"]),
    ("Activations", ["NN/Activations.h"]),
    ("Initializers, regularizers, constraints", ["NN/Initializers.h", "NN/Regularizers.h", "NN/Constraints.h"]),
    ("Losses", ["NN/Losses.h"]),
    ("Metrics", ["NN/*Metrics.h"]),
    ("Optimizers", ["NN/Optimizer*.h"]),
    ("Schedules of the learning rate", ["NN/Schedules.h"]),
    ("Callbacks", ["NN/Training/Callback*.h", "NN/Training/Checkpoints.h", "NN/Training/TensorBoard.h"]),
    ("Estimators", ["NN/Estimator/Estimator.h"]),
    ("Functions of layers", ["NN/*.h"]),
    ("Checkpoints, saved models, exported functions", ["NN/State/*"]),
    ("Datasets and files", ["Data/*"]),
    ("Strategies", ["Distribute/*"]),
    ("More", ["*"]),
]


def public_headers():
    """Meshloom.h's headers, direct and indirect, by their path below meshloom/."""
    found = []

    def visit(header):
        if header in found:
            return
        found.append(header)
        for other in re.findall(r'^#include "meshloom/([^"]+)"', (INCLUDE / header).read_text(), re.M):
            visit(other)

    visit("Meshloom.h")
    return found[1:]


def without_template(text):
    """A declaration without the `template <...>` that it begins with; empty where
    that is not closed yet, or nothing follows."""
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if letter == ">" and depth == 0:
            return text[position + 1 :].strip()
    return ""


def name_of(declaration):
    """The name that a declaration of a namespace declares; None where it has none
    of its own: operators, deduction guides, forward declarations."""
    text = re.sub(r"\[\[.*?\]\]|alignas\(.*?\)", "", declaration).strip()
    text = re.sub(r"^((inline|constexpr|extern|static|friend|explicit)\s+)+", "", text)
    if not text or text.startswith(("#", "}", "static_assert", "concept ", "using namespace")):
        return None
    if re.match(r"(class|struct|union|enum)\b", text):
        match = re.match(r"(?:class|struct|union|enum(?: class)?)\s+(\w+)\s*(?![\w<])", text)
        return None if not match or text.endswith(";") and "{" not in text else match[1]
    if match := re.match(r"using\s+(\w+)\s*=", text):
        return match[1]
    if "operator" in text.split("(")[0] or text.startswith("using "):
        return None
    head = re.sub(r"<[^<>()]*>", "", text)
    while re.search(r"<[^<>]*>", head.split("(")[0]):
        head = re.sub(r"<[^<>]*>", "", head, count=1)
    if match := re.match(r"([^=({]*?)(\w+)\s*\(", head):
        is_guide_or_member = not match[1] or match[1].endswith("::")
        return None if is_guide_or_member else match[2]
    match = re.match(r"[^={;]*?(\w+)\s*[={;]", head)
    return match[1] if match else None


def first_sentence(comment):
    """The first sentence of a doc comment's lines, up to an example."""
    prose = []
    for line in comment:
        if not line.strip() or line.startswith("  "):
            break
        prose.append(line.strip())
    text = " ".join(prose)
    if match := re.match(r"(.*?(?<!\.\.)\.)(?=\s|$)", text):
        text = match[1]
    return re.sub(r":$", ".", text)


def declarations(header):
    """Namespace, name and first sentence of what a header declares for users."""
    namespace, comment, pending, sentences = [], [], "", {}
    in_body = in_template = False
    for line in (INCLUDE / header).read_text().splitlines():
        if in_body:
            in_body = not line.startswith("}")
            continue
        if in_template and line.startswith(" "):
            continue  # what the template requires
        if not pending and not in_template:
            if match := re.match(r"namespace ([\w:]+) \{", line):
                namespace.append(match[1])
                continue
            if line.startswith("}"):
                namespace.pop()
                continue
            if line.startswith("///"):
                comment.append(line[3:].removeprefix(" "))
                continue
            if not line.strip() or line.startswith(("//", "#", " ")):
                comment = []
                continue
        code, _, trailing = line.partition("///<")
        if trailing:
            comment.append(trailing.strip())
        pending += " " + code.split(" //")[0].strip()
        if pending.strip().startswith("template"):
            pending = without_template(pending.strip())
            in_template = not pending
            if in_template:
                continue
        in_template = False
        if pending.count("(") != pending.count(")") or not re.search(r"[;{}]$", pending.rstrip()):
            continue
        in_body = pending.rstrip().endswith("{")
        scope = "::".join(namespace).removeprefix("meshloom").removeprefix("::")
        if "detail" not in scope and scope != "std" and (name := name_of(pending)):
            sentence = sentences[name] = first_sentence(comment)
            # using Conv1D = Convolution<1>: what a Convolution does, and how this one differs.
            alias = re.match(r"\s*using \w+ = (\w+)<", pending)
            if alias and sentences.get(alias[1]):
                sentence = f"{sentences[alias[1]].rstrip('.')} ({sentence.rstrip('.')})."
            yield scope, name, sentence
        pending, comment = "", []


def section_of(header):
    for title, patterns in SECTIONS:
        if any(fnmatch.fnmatch(header, pattern) for pattern in patterns):
            return title
    return None


def page():
    """The page, and the names without a doc comment."""
    rows, bare = {title: {} for title, _ in SECTIONS}, []
    for header in public_headers():
        shown = [pattern for title, patterns in SECTIONS for pattern in patterns if pattern == header]
        if not shown and any(fnmatch.fnmatch(header, pattern) for pattern in HIDDEN):
            continue
        names = rows[section_of(header)].setdefault(header, {})
        for scope, name, sentence in declarations(header):
            full = f"{scope}::{name}" if scope else name
            if not sentence:
                bare.append(f"include/meshloom/{header}: {full} has no doc comment")
            elif not name.endswith("Options"):
                names.setdefault(full, sentence)
    text = ["# Reference: every function and type, one line each", "",
            "Written by scripts/make_api_list.py from the headers' doc comments; do not edit. All names are in the namespace `meshloom` and come with",
            "`#include <meshloom/Meshloom.h>`. Each has its options, errors and examples in the header that is named above it; `scripts/make_api_reference`",
            "writes all of that as HTML. Structs of options are beside the function that takes them.", ""]
    for title, headers in rows.items():
        headers = {header: names for header, names in headers.items() if names}
        if headers:
            text += [f"* [{title}](#{re.sub(r'[^a-z0-9 -]', '', title.lower()).replace(' ', '-')})"]
    for title, headers in rows.items():
        headers = {header: names for header, names in headers.items() if names}
        if not headers:
            continue
        text += ["", f"## {title}"]
        for header, names in sorted(headers.items()):
            text += ["", f"`meshloom/{header}`", "", "| name | meaning |", "|---|---|"]
            text += [f"| `{name}` | {sentence.replace('|', chr(92) + '|')} |" for name, sentence in names.items()]
    return "\n".join(text) + "\n", bare


def main():
    text, bare = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
        print("\n".join(bare))
        return
    if not PAGE.exists() or PAGE.read_text() != text:
        bare.append("docs/Reference.md is not current: run scripts/make_api_list.py")
    print("\n".join(bare) or f"{text.count(chr(10) + '| `')} names are listed")
    sys.exit(bool(bare))


if __name__ == "__main__":
    main()
