"""CUDA programs on the processor, without a GPU: a C++ compiler compiles them, and fibers run their threads."""

from __future__ import annotations

import ctypes
import hashlib
import re
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from langford.errors import LangfordError
from langford.kernels.cache import kept_in
from langford.machine.kept import kept
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


def _loaded(library: bytes) -> ctypes.CDLL:
    """A copy of a library: a file that is loaded twice has its constants only once."""
    kept_code = kept_in("")
    # Some systems run no code that is among the temporary files.
    for place in (None, kept_code) if kept_code is not None else (None,):
        try:
            with TemporaryDirectory(prefix="langford-", dir=place) as folder:
                copy = Path(folder, "kernels.so")
                copy.write_bytes(library)
                return ctypes.CDLL(str(copy))
        except OSError as error:
            failure = error
    raise failure


@cache
def _compiled(source: str) -> bytes:
    """The library of a program, compiled once for all processes of this machine."""

    def compiled() -> bytes:
        with COMPILING.noted("of the GPU for this processor"), TemporaryDirectory(prefix="langford-") as folder:
            # What every program includes first takes half of the time.
            (Path(folder) / "host.h.gch").write_bytes(_header())
            new, folders = Path(folder) / "kernels.so", [f"-I{each}" for each in (folder, HEADER.parent)]
            _compile("-shared", "-x", "c++", "-", "-o", new, *folders, text=f'#include "{HEADER.name}"\n{source}')
            return new.read_bytes()

    return kept(kept_in(f"{_digest(HEADER.read_text() + source)}.so"), compiled)


def _header() -> bytes:
    """``host.h``, compiled beforehand."""

    def compiled() -> bytes:
        with TemporaryDirectory(prefix="langford-") as folder:
            _compile("-x", "c++-header", HEADER, "-o", new := Path(folder) / "host.h.gch")
            return new.read_bytes()

    return kept(kept_in(f"{_digest(HEADER.read_text())}.gch"), compiled)


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


def _digest(texts: str) -> str:
    """The name of the code that this compiler makes of these texts."""
    return hashlib.sha256("\n".join([*COMPILER, _version(), texts]).encode()).hexdigest()[:16]


@cache
def _version() -> str:
    return _compile("--version")


class HostStream:
    """A stream whose launches are done at once; see langford.kernels.gpu.program.DeviceStream."""

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
