# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the wheel as pip does, and uses it in a new environment: wheel_test.py BUILD

BUILD is the build folder with the plug-in and mesh-opt. The environment has the wheel's
files, and JAX from the Python that runs this; one without JAX or pip is a skip (exit code
77, for ctest).
"""
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SHARDED_SUM = """
import jax, jax.numpy as jnp
x = jax.device_put(jnp.arange(16.0), jax.NamedSharding(jax.make_mesh((8,), "x"), jax.P("x")))
print(len(x.sharding.device_set), float(jax.jit(lambda x: x.sum())(x)))
"""
USE = """
import meshloom
meshloom.use(devices=4, deterministic=True)
import jax
print(jax.devices()[3])
try:
    meshloom.use(devices=8)
except RuntimeError as error:
    print(error)
"""
EXPLAIN = """
import meshloom
print(meshloom.collectives(open("program.mlir").read()))
"""
PROGRAM = """
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  return %x : tensor<8xf32>
}
"""


# Writes the libraries that the process has loaded after a product, an inverse and a sum.
LOADED = """
import jax, jax.numpy as jnp
a = jnp.eye(256) * 2
print(float(jnp.tanh(jnp.linalg.inv(a) @ a).sum()))
print(*{line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}, sep="\\n")
"""


class Environment:
    """A new environment with a wheel's files, and JAX from this Python."""

    def __init__(self, folder, wheel):
        self.folder = folder
        venv.create(folder / "new", symlinks=True)
        self.python = folder / "new" / "bin" / "python"
        site = Path(subprocess.check_output(
            [self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            text=True).strip())
        (site / "jax.pth").write_text(sysconfig.get_path("purelib") + "\n")
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
                        "--no-index", "--disable-pip-version-check", "--target", site, wheel],
                       check=True)

    def run(self, test, text, **variables):
        inherited = {name: value for name, value in os.environ.items()
                     if not name.startswith(("MESHLOOM_", "JAX_", "PYTHON"))}
        done = subprocess.run([self.python, "-c", text], cwd=self.folder, capture_output=True,
                              text=True, env={**inherited, **variables})
        test.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.folder = Path(scratch)
        environment = {**os.environ, "MESHLOOM_BUILD": build}
        subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps",
                        "--disable-pip-version-check", "-w", scratch, ROOT],
                       check=True, env=environment)
        [wheel] = cls.folder.glob("*.whl")
        cls.environment = Environment(cls.folder, wheel)

    def run_python(self, text, **variables):
        return self.environment.run(self, text, **variables)

    def test_three_lines_of_jax_run_on_eight_devices(self):
        output = self.run_python(SHARDED_SUM, JAX_PLATFORMS="meshloom,cpu", MESHLOOM_DEVICES="8")
        self.assertEqual(output, "8 120.0\n")

    def test_without_its_name_nothing_changes(self):
        output = self.run_python("import jax; print(jax.devices())")
        self.assertNotIn("Meshloom", output)

    def test_use_chooses_the_platform(self):
        first, second = self.run_python(USE).splitlines()
        self.assertIn("MeshloomDevice(id=3)", first)
        self.assertIn("before the first computation", second)

    def test_programs_are_explained_by_the_mesh_opt_of_the_wheel(self):
        (self.folder / "program.mlir").write_text(PROGRAM)
        self.assertIn("all_gather", self.run_python(EXPLAIN))


class ManylinuxWheel(unittest.TestCase):
    @unittest.skipUnless(shutil.which("auditwheel") and shutil.which("patchelf"),
                         "there are no auditwheel and patchelf")
    def test_the_libraries_are_those_of_the_wheel(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        wheel = subprocess.check_output(
            [ROOT / "scripts" / "make-wheel", "--manylinux", folder], text=True,
            env={**os.environ, "MESHLOOM_BUILD": build}).strip()
        self.assertIn("-manylinux_2_", wheel)
        environment = Environment(folder, wheel)
        product, *libraries = environment.run(self, LOADED, JAX_PLATFORMS="meshloom,cpu").split()
        self.assertAlmostEqual(float(product), 256 * 0.7615942, places=3)
        for name in ["libLLVM", "libMLIR", "libdnnl", "libtbb", "libfmt", "libopenblas.so"]:
            paths = [path for path in libraries if Path(path).name.startswith(name)]
            self.assertTrue(paths, name)
            for path in paths:
                self.assertIn("meshloom_jax.libs", path)


if __name__ == "__main__":
    missing = [name for name in ["jax", "pip"] if importlib.util.find_spec(name) is None]
    if missing:
        print(f"SKIP: this Python has no {' and no '.join(missing)}")
        sys.exit(77)
    build = os.path.abspath(sys.argv.pop(1))
    unittest.main()
