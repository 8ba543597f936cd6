# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
pytest_plugins = ["pytester"]
