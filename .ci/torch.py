#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""torch.py VERSION FOLDER: a virtual environment with torch from the Python registry, for the tests.

The wheel for Linux needs gigabytes of CUDA libraries, of which the tests use none. Stand-ins take
their place: they have all functions that torch's libraries ask for by name, and each does nothing
and returns zero. With lazy binding torch then is imported as anywhere. FOLDER/bin/python is the
interpreter; where it works already nothing is done.
"""

import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile

WANTED = ("torch/", "torchgen/", "functorch/", "torch-")  # the last: what is in the wheel
UNWANTED = ("torch/include/", "torch/test/", "torch/share/",
            "torch/lib/libtorch_cuda_linalg.so")
IMPORTED = ("typing_extensions", "filelock", "sympy", "networkx", "jinja2", "fsspec")
SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|gomp)[.-]|ld-linux")
SYSTEM_VERSION = re.compile(r"(GLIBC|GLIBCXX|CXXABI|GCC|GOMP|OMP)_")
CUDA = re.compile(r"(__cuda|cu|nccl|nvtx|nvrtc|nvshmem)")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def works(folder):
    python = folder / "bin/python"
    see = "import torch.distributed, importlib.metadata; importlib.metadata.version('torch')"
    return python.exists() and subprocess.run([python, "-c", see], capture_output=True).returncode == 0


def unpack(wheel, site):
    with zipfile.ZipFile(wheel) as files:
        files.extractall(site, [name for name in files.namelist()
                                if name.startswith(WANTED) and not name.startswith(UNWANTED)])


def symbols(libraries, which):
    """Names with their versions, "name@version" or "name"."""
    text = output("nm", "-D", "--with-symbol-versions", which, *libraries)
    return {line.split()[-1].replace("@@", "@") for line in text.splitlines()
            if len(line.split()) in (2, 3)}


def stand_in(folder):
    """Writes the libraries that those in folder need and nobody has."""
    libraries = sorted(folder.glob("*.so*"))
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", *libraries)))
    missing = [name for name in needed if not SYSTEM.match(name) and not (folder / name).exists()]
    defined = {name.split("@")[0] for name in symbols(libraries, "--defined-only")}
    versions = collections.defaultdict(set)
    for symbol in symbols(libraries, "--undefined-only"):
        name, _, version = symbol.partition("@")
        if version and not SYSTEM_VERSION.match(version):
            versions[version].add(name)
        elif not version and CUDA.match(name) and name not in defined:
            versions[""].add(name)
    with tempfile.TemporaryDirectory() as work:
        code, exports = pathlib.Path(work, "code.s"), pathlib.Path(work, "exports.map")
        code.write_text("nothing:\nxor %eax, %eax\nret\n" + "".join(
            f".globl {name}\n.type {name}, @function\n.set {name}, nothing\n"
            for name in sorted(set().union(*versions.values()))))
        exports.write_text("".join(f"{version} {{ {'; '.join(sorted(names))}; }};\n"
                                   for version, names in versions.items() if version))
        for name in missing:
            subprocess.run(["gcc", "-shared", "-nostdlib", "-o", folder / name, code,
                            f"-Wl,-soname,{name}", f"-Wl,--version-script,{exports}"], check=True)


def main(version, folder):
    if works(folder):
        return
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, symlinks=True, with_pip=True)
    pip = [folder / "bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    site = next(folder.glob("lib/python*/site-packages"))
    subprocess.run([*pip, "install", *IMPORTED], check=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        subprocess.run([*pip, "download", "--no-deps", "-d", work, f"torch=={version}"], check=True)
        unpack(next(pathlib.Path(work).glob("*.whl")), site)
    stand_in(site / "torch/lib")
    (site / "lazy.pth").write_text("import os, sys; sys.setdlopenflags(os.RTLD_LAZY)\n")
    if not works(folder):
        sys.exit(f"torch {version} can't be imported from {folder}")


main(sys.argv[1], pathlib.Path(sys.argv[2]))
