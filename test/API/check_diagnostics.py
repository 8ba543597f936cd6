#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compilers say about common mistakes with the public headers.

Each snippet is compiled without making anything. It either compiles, or its errors contain the text given, and there are
no more of them than given. A snippet that includes the headers is a file of its own. All others of one standard are
compiled together, each in a namespace of its own and under a file name of its own, by which its errors are found.

usage: check_diagnostics.py COMPILER INCLUDE_FOLDER
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HEADER = '#include "meshloom/Meshloom.h"\n'
USING = HEADER + "using namespace meshloom;\n"
BESIDE_STD = (
    "#include <algorithm>\n#include <complex>\n#include <functional>\n#include <numeric>\n#include <stack>\n#include <valarray>\n"
    "using namespace std;\n" + USING
)

# Types that users have of their own. Meshloom's headers for users name none of them.
USERS_TYPES = (
    "Argument Array Attention Batch Block Buffer Client Code Config Cost Data Decoder Device Encoder Event Kernel Loop Network Node Operand Options "
    "Plan Profile Program Sample Signature State Step Task Torus Trace Vocabulary Window Windows Work Worker"
)

# Name, standard and other options, source, text of the error (None: it compiles), most errors.
SNIPPETS = [
    (
        "types of users' own beside the using directive",
        "c++20",
        USING + "".join(f"struct {name} {{ int value; }}; int f({name} x) {{ return x.value; }}\n" for name in USERS_TYPES.split()),
        None,
        0,
    ),
    (
        "classes that derive from Meshloom's say Config",
        "c++20",
        USING
        + """struct Config { int units; };
        struct Scaled : LayerImpl {
          explicit Scaled(double factor) : LayerImpl("Scaled"), factor(factor) {}
          explicit Scaled(const Config &config) : Scaled(config.at("factor").as_double()) {}
          Config get_config() const override { Config config = LayerImpl::get_config(); config["factor"] = factor; return config; }
          double factor;
        };
        struct Descent : optimizers::UpdateRule {
          void update(const optimizers::Update &u) const override { u.variable.assign_sub(u.gradient); }
          Config get_config() const override { return {}; }
        };
        struct Counter : callbacks::Callback {
          callbacks::CallbackState get_state() const override { callbacks::CallbackState state; state.values = Config(3); return state; }
        };
        int f(Config mine) { return mine.units; }""",
        None,
        0,
    ),
    (
        "export_functions without functions is of one kind",
        "c++20",
        """void f(ConcreteFunction g, FreeBatchFunction h) {
          export_functions("digits", {});
          export_functions("digits", {{"a", g}}, "key");
          export_functions("digits", {{"a", h}}, {.sizes = {1, 32}});
        }""",
        None,
        0,
    ),
    (
        "optimizers by number, by name and by options",
        "c++20",
        """void f(DVariable rate) {
          optimizers::Adam a, b(1e-3), c(1), d(rate), h({.learning_rate = rate}), i(1e-3, 0.8, 0.99);
          optimizers::SGD j([](const Tensor &step) { return 0.1f / sqrt(step); });
          optimizers::AdamW k(1e-3), l(1e-3, 0.01), m({.learning_rate = 1e-3});
          optimizers::RMSprop o(schedules::ExponentialDecay(0.1, 10, 0.5), 0.9, 0.9);
        }""",
        None,
        0,
    ),
    ("C++17 gives one error", "c++17", HEADER, "Meshloom needs C++20", 1),
    (
        "a layout says None where a dim is on no axis",
        "c++20",
        'Layout f(Mesh mesh) { return Layout({"x", nullptr}, mesh); }',
        "write UNSHARDED",
        1,
    ),
    (
        "&& of tensors",
        "c++20",
        "bool f(Tensor x) { return bool(x > 0 && x < 3); }",
        "write x & y (logical_and)",
        1,
    ),
    ("|| of a variable", "c++20", "bool f(DVariable x) { return x || true; }", "write x | y (logical_or)", 1),
    (
        "a function's body takes another number of arguments",
        "c++20",
        "void f(Tensor x) { function([](const Tensor &a) { return a; })(x, x); }",
        "call a function with as many arguments",
        1,
    ),
    (
        "the condition of a loop takes nothing",
        "c++20",
        "Tensor f(Tensor x) { return while_loop([] { return tensor(true); }, [](const Tensor &y) { return y; }, x) + 1; }",
        "the condition and the body of while_loop take one argument",
        1,
    ),
    (
        "the body of fori_loop lacks the counter",
        "c++20",
        "Tensor f(Tensor x) { return fori_loop(0, 3, [](const Tensor &y) { return y; }, x) + 1; }",
        "the body of fori_loop takes two arguments",
        1,
    ),
    (
        "a branch takes an argument",
        "c++20",
        "void f(Tensor x) { cond(x, [](Tensor y) { return y; }, [&] { return x; }); }",
        "the branches of cond take no arguments",
        1,
    ),
    (
        "the function of call_with_layout takes an argument",
        "c++20",
        "void f(Layout l) { call_with_layout([](Tensor y) { return y; }, l); }",
        "the function of call_with_layout takes no arguments",
        1,
    ),
    (
        "scan's body returns no pair",
        "c++20",
        "void f(Tensor x) { scan([](const Tensor &c, const Tensor &v) { return c + v; }, x[0], x).first; }",
        "the body of scan returns a pair: the carry",
        1,
    ),
    (
        "the body of a loop returns another structure",
        "c++20",
        "Tensor f(Tensor x) { return fori_loop(0, 3, [](const Tensor &, const Tensor &s) { return std::pair(s, s); }, x) + 1; }",
        "the body of fori_loop returns a state of the type of init",
        1,
    ),
    (
        "the condition of a loop is no tensor",
        "c++20",
        'Tensor f(Tensor x) { return while_loop([](const Tensor &) { return "x"; }, [](const Tensor &s) { return s; }, x) + 1; }',
        "the condition of while_loop returns a tensor",
        1,
    ),
    (
        "branches return other types",
        "c++20",
        "void f(Tensor x) { cond(x, [&] { return x; }, [&] { return std::pair(x, x); }); }",
        "both branches return the same type",
        1,
    ),
    (
        "nullopt is an optional without a value",
        "c++20",
        "void f(Tensor x) { function([](const Tensor &a, const std::optional<Tensor> &) { return a; })(x, std::nullopt); }",
        None,
        0,
    ),
    # These statements have an effect in Python and would have none here.
    *(
        (f"no effect: {statement}", "c++20", f"void f(Tensor x, Tensor y, DVariable w) {{ {statement}; }}", text, 1)
        for statement, text in [
            ("x[0] = y", "write x = index_update(x, {0}, y)"),
            ("x[0] = 1.f", "write x = index_update(x, {0}, y)"),
            ("x(range(1, 3)) = y", "write x = index_update(x, {0}, y)"),
            ("w[0] = y", "write x = index_update(x, {0}, y)"),
            ("x[0] += y", "write x = index_add(x, {0}, y)"),
            ("w[0] *= 2", "write x = index_update(x, {0}, x[0] * y)"),
            ("w = y", "write w.assign(y)"),
            ("w = 2", "write w.assign(y)"),
            ("w += y", "write w.assign_add(y)"),
            ("w -= 1", "write w.assign_sub(y)"),
            ("w *= 2", "write w.assign(w * y)"),
        ]
    ),
    # These results are computed and thrown away.
    *(
        (
            f"unused: {statement}",
            "c++20 -Werror",
            f"void f(Tensor x, DVariable w, GradientTape &t) {{ (void)w, (void)t; {statement}; }}",
            "ignoring",
            1,
        )
        for statement in [
            "x + w",
            "exp(x)",
            "x[0]",
            "reshape(x, {4})",
            "t.gradient(x, w)",
            "index_update(x, {0}, 1)",
            "data::from_tensor_slices(x).map([](const Tensor &a) { return a; })",
            "data::from_tensor_slices(x).batch(4)",
            "function([](const Tensor &a) { return a; })",
        ]
    ),
    # By C++'s rules a name that is a type in std and a function here has to be chosen.
    (
        "beside using namespace std",
        "c++20",
        BESIDE_STD
        + "vector<float> f(Tensor x) {\n"
        "  using meshloom::function, meshloom::complex, meshloom::less, meshloom::slice, meshloom::stack;\n"
        "  auto g = function([](const Tensor &a) { return exp(a) + sqrt(abs(a)) + pow(a, 2) + real(complex(a, a)); });\n"
        "  Tensor y = where(less(g(x), 1), sort(x), reverse(x, 0)) + max(reduce_max(x), reduce_min(x));\n"
        "  return slice(stack({y, y}), {0, 0}, {1, 1}).to_vector<float>();\n"
        "}\n",
        None,
        0,
    ),
]


def precompile(folder, options):
    """The header to include that stands for HEADER. Both compilers take x.h.gch for x.h."""
    header = folder / "Precompiled.h"
    header.write_text(HEADER)
    subprocess.run([*options, "-xc++-header", header, "-o", f"{header}.gch"], check=True)
    return header


def files(snippets):
    """Yields the files to compile: standard and other options, source, and the numbers of the snippets in it."""
    together = {}
    for number, (_, standard, source, _, _) in enumerate(snippets):
        if source.startswith((HEADER, BESIDE_STD)):
            yield standard, f'#line 1 "snippet-{number}"\n{source}', [number]
        else:
            together.setdefault(standard, []).append(number)
    for standard, numbers in together.items():
        namespaces = (f'namespace snippet_{n} {{\n#line 1 "snippet-{n}"\n{snippets[n][2]}\n}}\n' for n in numbers)
        yield standard, USING + "".join(namespaces), numbers


def errors_by_snippet(report):
    """The errors in a compiler's output. An error belongs to the snippet that its line names, or the lines before it
    (g++ tells first what is instantiated) or the notes behind it (clang tells it afterwards)."""
    blocks, before = [[]], []
    for line in report.splitlines():
        severity = re.search(r" (error|warning|note): ", line)
        if severity and severity[1] != "note":
            blocks.append([])
        if severity or re.match(r" *\d* \| ", line):  # The latter is the source.
            blocks[-1] += [*before, line]
            before = []
        else:
            before.append(line)
    errors = {}
    for block in blocks:
        number = re.search(r"\bsnippet-(\d+):", "\n".join(block))
        if any(" error: " in line for line in block):
            errors.setdefault(int(number[1]) if number else None, []).append("\n".join(block))
    return errors


def check(compiler, include, folder):
    all_errors = ["-ferror-limit=0"] if "clang" in pathlib.Path(compiler).name else []
    options = [compiler, "-Wall", f"-I{include}", *all_errors]
    header = precompile(folder, [*options, "-std=c++20"])
    failed = False

    def fail(text, errors):
        nonlocal failed
        failed = True
        print(text, *errors, sep="\n")

    for standard, source, numbers in files(SNIPPETS):
        first = ["-include", header] if HEADER in source and BESIDE_STD not in source and standard.startswith("c++20") else []
        run = subprocess.run(
            [*options, *f"-std={standard}".split(), *first, "-fsyntax-only", "-xc++", "-"],
            input=source,
            capture_output=True,
            text=True,
        )
        errors = errors_by_snippet(run.stderr)
        if None in errors:
            fail("expected each error to name its snippet, got", errors[None])
        for number in numbers:
            name, _, _, text, most = SNIPPETS[number]
            seen = errors.get(number, [])
            good = not seen if text is None else 1 <= len(seen) <= most and any(text in error for error in seen)
            if not good:
                fail(f"{name}: expected {text or 'no error'}, at most {most} errors, got", seen)
    return failed


def main():
    compiler, include = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(check(compiler, include, pathlib.Path(folder)))


main()
