"""Builds the optional kernels; everything else about the package is in pyproject.toml.

Without a C compiler the installation still succeeds and the same files run interpreted.
"""

import os
import platform

from setuptools import setup

KERNELS = [f"src/clrevents/decode/kernels/{name}.py" for name in ("scan", "walk", "slots")]
KERNELS.append("src/clrevents/analysis/reports/heap/dominate.py")
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": True,
    "wraparound": False,
    "initializedcheck": False,
    "annotation_typing": False,
    "cdivision": True,
    # Threads that share a batch take turns at its payloads (kernels/objects.py); nothing else is shared.
    "freethreading_compatible": True,
}


def extensions():
    # The kernel that makes objects reaches into CPython's.
    if os.environ.get("CLREVENTS_PURE") or platform.python_implementation() != "CPython":
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    made = cythonize(KERNELS, compiler_directives=DIRECTIVES, build_dir="build")
    for extension in made:
        # cythonize() drops this from extensions that are given to it, so it is set on those it returns.
        extension.optional = True
        extension.include_dirs.append("src/clrevents/decode/kernels")
    return made


setup(ext_modules=extensions())
