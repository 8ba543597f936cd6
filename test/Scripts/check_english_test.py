#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_english.py on small texts: which declarations and which sentences count."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import check_english  # noqa: E402


class CheckEnglishTest(unittest.TestCase):
    def words(self, path, text):
        found = check_english.findings_of_page(text) if path.endswith(".md") else \
            check_english.findings_of_source(path, text)
        return [(number, word) for number, _, word in found]

    def test_declarations_of_names(self):
        for line, name in {
            "int64_t left = 0;": "left",
            "for (const Tensor &each : tensors)": "each",
            "void f(std::vector<int64_t> given, bool known);": "given",
            "auto [from, at] = place(x);": "at",
            "Value made = build();": "made",
        }.items():
            self.assertIn((1, name), self.words("a.cpp", line), line)
        self.assertEqual(self.words("a.py", "for each in xs:\n    rest = 1"), [(1, "each"), (2, "rest")])

    def test_uses_and_texts_are_no_declarations(self):
        for line in ("return left;", "if (size > left)", "f(a, left);", 'text = "int left = 0;";', "a & each;",
                     "int64_t result = left + 1;"):
            self.assertEqual(self.words("a.cpp", line), [], line)

    def test_half_sentences_of_comments(self):
        self.assertEqual(self.words("a.h", "/// What it takes.\nint takes();"), [(1, "What")])
        self.assertEqual(self.words("a.h", "int rank;  ///< Of the result.\n"), [(1, "Of")])
        self.assertEqual(self.words("a.h", "/// Returns it. Of a scalar, 0."), [(1, "Of")])
        self.assertEqual(self.words("a.h", "/// The layout\n/// of the result."), [])
        self.assertEqual(self.words("a.h", "/// The name says\n/// What users see."), [])

    def test_half_sentences_of_pages(self):
        self.assertEqual(self.words("a.md", "| a | Of all |\n\nWhat lies there stays.\n"), [(1, "Of"), (3, "What")])
        self.assertEqual(self.words("a.md", "What is a mesh?\n\n```\nOf code\n```\n"), [])


if __name__ == "__main__":
    unittest.main()
