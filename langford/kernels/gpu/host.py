"""CUDA programs on the processor, without a GPU: a C++ compiler compiles them, and fibers run their threads."""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from langford.errors import LangfordError
from langford.kernels.cache import cache_folder
from langford.machine.process import COMPILING

BLOCKS = 2
HEADER = Path(__file__).with_name("host.h")
KERNEL = re.compile(r'extern "C" __global__ void(?: LAUNCH_BOUNDS\(.*\))?\s+(\w+)\(')
COMPILER = ["g++", "-std=c++20", "-O1", "-fwrapv", "-fPIC", "-w"]


class NoCompiler(LangfordError):
    """There is no C++ compiler, or it cannot compile the kernels."""


class HostProgram:
    """A program run by fibers on the host; see langford.kernels.gpu.program.Program."""

    memory = 2**30
    multiprocessors = 1
    registers = 0
    blocks = BLOCKS

    def __init__(self, source: str, main: str, threads: int) -> None:
        kernels = KERNEL.findall(source)
        assert main in kernels
        launchers = "".join(
            f'extern "C" void run_{kernel}(void **arguments, int blocks) '
            f"{{ call(blocks, {threads}, {kernel}, arguments); }}\n"
            for kernel in kernels
        )
        self._library = _loaded(_compiled(f"{source}\n{launchers}"))

    def zeros(self, shape: Any, dtype: Any) -> Any:
        return np.zeros(shape, dtype)

    def upload(self, array: Any) -> Any:
        return array.copy()

    def set_constant(self, name: str, values: Any) -> None:
        there = (ctypes.c_byte * values.nbytes).in_dll(self._library, name)
        ctypes.memmove(there, values.ctypes.data, values.nbytes)

    def sort_by(self, keys: Any, values: Any) -> Any:
        return values[np.argsort(keys)]

    def download(self, array: Any) -> Any:
        return array

    def launch(self, name: str, *arguments: Any) -> None:
        values = [
            ctypes.c_void_p(each.ctypes.data)
            if isinstance(each, np.ndarray)
            else (ctypes.c_int64 if isinstance(each, np.int64) else ctypes.c_int)(int(each))
            for each in arguments
        ]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        self._library[f"run_{name}"](pointers, self.blocks)

    def stream(self, words: int) -> HostStream:
        return HostStream(self, words)


def _loaded(library: Path) -> ctypes.CDLL:
    """A copy of a library: a file that is loaded twice has its constants only once."""
    with NamedTemporaryFile(dir=library.parent, suffix=".so") as copy:
        copy.write(library.read_bytes())
        copy.flush()
        return ctypes.CDLL(copy.name)


@cache
def _compiled(source: str) -> Path:
    """The library of a program, compiled once for all processes of this machine."""
    library = _folder() / f"{_digest(HEADER.read_text() + source)}.so"
    with _missing(library) as new:
        if new is not None:
            # What every program includes first takes half of the time.
            folders = [f"-I{folder}" for folder in (_header().parent, HEADER.parent)]
            _compile("-shared", "-x", "c++", "-", "-o", new, *folders, text=f'#include "{HEADER.name}"\n{source}')
    return library


@cache
def _header() -> Path:
    """``host.h``, compiled beforehand."""
    header = _folder() / _digest(HEADER.read_text()) / "host.h.gch"
    header.parent.mkdir(exist_ok=True)
    with _missing(header) as new:
        if new is not None:
            _compile("-x", "c++-header", HEADER, "-o", new)
    return header


def _compile(*options: str | Path, text: str | None = None) -> str:
    """Run the compiler; returns what it prints.  Raises NoCompiler."""
    try:
        return subprocess.run([*COMPILER, *options], input=text, capture_output=True, text=True, check=True).stdout
    except FileNotFoundError as error:
        raise NoCompiler(
            "there is no g++ to compile the kernel with: install it, or leave --device host out"
        ) from error
    except subprocess.CalledProcessError as error:
        message = error.stderr.strip().partition("\n")[0]
        raise NoCompiler(f"g++ does not compile the kernel ({message}): leave --device host out") from error


@contextmanager
def _missing(file: Path) -> Iterator[Path | None]:
    """A context in which one process makes a missing file: the path to write to, or None when the file exists."""
    if file.exists():
        yield None
        return
    with file.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if file.exists():
            yield None
            return
        new = file.with_suffix(".new")
        with COMPILING.noted("of the GPU for this processor"):
            yield new
        new.rename(file)


def _digest(texts: str) -> str:
    """The name of the code that this compiler makes of these texts."""
    return hashlib.sha256("\n".join([*COMPILER, _version(), texts]).encode()).hexdigest()[:16]


@cache
def _version() -> str:
    return _compile("--version")


def _folder() -> Path:
    """The folder of these libraries, beside numba's cache: one for each version of the sources."""
    folder = cache_folder() / "host"
    folder.mkdir(exist_ok=True)
    return folder


class HostStream:
    """A stream whose launches are done at once; see langford.kernels.gpu.program.Stream."""

    idle = True

    def __init__(self, program: HostProgram, words: int) -> None:
        self._program = program
        self.words = np.zeros(words, np.uint64)

    def launch(self, name: str, used: int, *arguments: Any) -> None:
        start = np.zeros(1, np.uint32)
        self._program.launch(
            name, self.words[:used].copy(), *(start if each is None else each for each in arguments)
        )

    def wait(self) -> None:
        pass
