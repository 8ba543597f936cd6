#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_includes.py on small trees: what the table allows passes, and each kind
of violation is reported at its file and line."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import check_includes  # noqa: E402


class CheckIncludesTest(unittest.TestCase):
    def violations(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return check_includes.check(root)

    def expect_forbidden(self, file, line, target):
        found = self.violations({file: f"// A comment.\n{line}\n"})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{file}:2: "), found[0])
        self.assertIn(target, found[0])

    def test_allowed(self):
        self.assertEqual(
            self.violations(
                {
                    "include/meshloom/Core/Mesh.h": "#include <vector>",
                    "lib/Core/Mesh.cpp": '#include "meshloom/Core/Mesh.h"\n'
                    "#include <fmt/format.h>",
                    "lib/API/Engine.cpp": '#include "Engine.h"\n'
                    '#include "meshloom/Compiler/Compiler.h"',
                    "lib/API/Engine.h": "#include <mlir/IR/Builders.h>",
                    "examples/a/main.cpp": "#include <meshloom/Meshloom.h>",
                    "tools/run/run.cpp": '#include "meshloom/Interpreter/I.h"',
                    "lib/Runtime/Library/Dot.cpp": "#include <dnnl.h>",
                }
            ),
            [],
        )

    def test_headers_of_lib_are_private_to_their_room(self):
        found = self.violations(
            {
                "lib/SPMD/A.h": "",
                "lib/SPMD/A.cpp": '#include "A.h"',
                "lib/Compiler/A.cpp": '#include "../SPMD/A.h"',
            }
        )
        self.assertEqual(len(found), 1, found)
        self.assertIn("lib/Compiler/A.cpp:1: ", found[0])
        self.assertIn("private to SPMD", found[0])

    def test_a_header_of_one_room_is_beside_its_sources(self):
        header = {"include/meshloom/SPMD/A.h": ""}
        source = {"lib/SPMD/A.cpp": '#include "meshloom/SPMD/A.h"'}
        found = self.violations(header | source)
        self.assertEqual(len(found), 1, found)
        self.assertIn("include/meshloom/SPMD/A.h: ", found[0])
        user = {"lib/Compiler/A.cpp": '#include "meshloom/SPMD/A.h"'}
        self.assertEqual(self.violations(header | source | user), [])

    def test_core_is_std_and_fmt(self):
        self.expect_forbidden(
            "lib/Core/A.cpp", '#include "llvm/ADT/STLExtras.h"', "llvm"
        )
        self.expect_forbidden(
            "lib/Core/A.cpp", '#include "meshloom/Support/File.h"', "Support"
        )

    def test_core_headers_are_std_only(self):
        self.expect_forbidden(
            "include/meshloom/Core/A.h", "#include <fmt/format.h>", "fmt"
        )

    def test_api_headers_are_core_and_std(self):
        for line in (
            "#include <mlir/IR/Value.h>",
            '#include "meshloom/Runtime/Client.h"',
            "#include <fmt/format.h>",
        ):
            self.expect_forbidden("include/meshloom/API/A.h", line, "header of API")

    def test_runtime_knows_no_compiler(self):
        self.expect_forbidden(
            "lib/Runtime/A.cpp", '#include "meshloom/Compiler/Compiler.h"', "Compiler"
        )
        self.expect_forbidden(
            "lib/Runtime/Backends/CPU/A.cpp", '#include "mlir/IR/Value.h"', "mlir"
        )
        self.expect_forbidden(
            "lib/Runtime/A.cpp", '#include "oneapi/dnnl/dnnl.hpp"', "dnnl"
        )

    def test_targets_and_interpreter_do_not_see_the_compiler(self):
        for layer in ("Targets/CPU", "Targets/StableHLO", "Import", "Interpreter"):
            self.expect_forbidden(
                f"lib/{layer}/A.cpp",
                '#include "meshloom/Compiler/Partition.h"',
                "Compiler",
            )

    def test_dialects_have_no_passes(self):
        self.expect_forbidden(
            "mlir-dialects/lib/DTensor/A.cpp",
            '#include "meshloom/Compiler/Partition.h"',
            "Compiler",
        )
        self.expect_forbidden(
            "mlir-dialects/include/meshloom/Dialect/DTensor/A.td",
            'include "meshloom/Autodiff/A.td"',
            "Autodiff",
        )

    def test_examples_are_users(self):
        self.expect_forbidden(
            "examples/a/main.cpp", "#include <meshloom/Core/Mesh.h>", "Core"
        )

    def test_private_headers_are_private(self):
        found = self.violations(
            {
                "lib/Compiler/Flow.h": "",
                "lib/Targets/CPU/A.cpp": '#include "../../Compiler/Flow.h"',
            }
        )
        self.assertEqual(len(found), 1, found)

    def test_table_is_the_documented_one(self):
        text = """
| layer | holds | may include |
|---|---|---|
| Core | meshes | |
| mlir-dialects/ | ops | Core |
| Runtime | arrays | Core |
| Runtime/Backends/X | one platform each | Runtime |
"""
        rows = check_includes.picture(text)
        self.assertIn(["Dialect"], rows)
        right = {
            "Core": (set(), {"fmt"}),
            "Dialect": ({"Core"}, {"Core", "mlir"}),
            "Runtime/Backends/CPU": (set(), {"Runtime"}),
        }
        self.assertEqual(check_includes.check_picture(rows, right), [])
        upwards = {"Core": (set(), {"Dialect"}), "Dialect": (set(), set())}
        self.assertEqual(len(check_includes.check_picture(rows, upwards)), 1)
        unknown = {"Compiler": (set(), set())}
        self.assertIn("Compiler", check_includes.check_picture(rows, unknown)[0])

    def test_unknown_projects_and_layers(self):
        self.expect_forbidden("lib/Core/A.cpp", "#include <boost/any.hpp>", "boost")
        self.expect_forbidden("lib/Utils/A.cpp", "#include <vector>", "Utils")


if __name__ == "__main__":
    unittest.main()
