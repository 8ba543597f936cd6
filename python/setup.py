# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts the plug-in's library into the package, where a build of the clone has it.

The library is the one that MESHLOOM_PJRT_PLUGIN names, or else build/lib of the clone. A
package without it finds the library when JAX starts: see library_path().
"""

import os
import pathlib
import shutil

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

LIBRARY = pathlib.Path(
    os.environ.get("MESHLOOM_PJRT_PLUGIN")
    or pathlib.Path(__file__).resolve().parents[1] / "build" / "lib" / "libmeshloom_pjrt.so"
)


class WithLibrary(build_py):
    def run(self):
        super().run()
        if not LIBRARY.is_file():
            self.warn(f"there is no {LIBRARY}: the package is without the plug-in's library")
            return
        folder = pathlib.Path(self.build_lib) / "jax_plugins" / "meshloom"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy2(LIBRARY, folder / "libmeshloom_pjrt.so")


class BinaryDistribution(Distribution):
    """A wheel with a library is for one kind of machine."""

    def has_ext_modules(self):
        return LIBRARY.is_file()


setup(cmdclass={"build_py": WithLibrary}, distclass=BinaryDistribution)
