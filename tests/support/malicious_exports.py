"""Files that an enemy, or bad luck, could hand in as exported results: each by a name that says what is wrong."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from db.files.promise import digest, lot
from tests.support.campaigns import NAME, TASKS, TRUE

Documents = list[dict[str, Any]]
SOURCE = '{"host": "far"}'
HALF = "\ud800"


def honest() -> Documents:
    """A header, one source, and the result of every task."""
    header = {
        "format": "langford results 1",
        "campaign": NAME,
        "problem": "langford-7",
        "method": "polyphase",
        "depth": 8,
        "tasks": TASKS,
        "sources": 1,
        "results": TASKS,
    }
    results = [{"task": result.index, **result.to_text(), "seconds": 0.25, "source": 0} for result in TRUE]
    return [header, {"source": SOURCE}, *results]


def promising() -> Documents:
    """The same with a promise of a half, by 1.x: three results are drawn, two confirmed by voters, one by the
    operator.
    """
    header, source, *results = honest()
    header |= {"format": "langford results 2", "promise": 0.5, "voters": 3}
    results[0] |= {"drawn": True, "voter": 0, "confirmed_by": 1}
    results[1] |= {"drawn": True, "voter": 2, "confirmed_by": 0}
    results[2] |= {"drawn": True, "decided": True}
    return [header, source, *results]


def sealed(body: bytes) -> bytes:
    """A body with its checksum below it."""
    return body + json.dumps({"sha256": hashlib.sha256(body).hexdigest()}).encode() + b"\n"


def text_of(documents: Documents) -> bytes:
    """One document per line."""
    return "".join(json.dumps(document) + "\n" for document in documents).encode()


def packed(documents: Documents) -> bytes:
    """A file of these documents with the right checksum."""
    return gzip.compress(sealed(text_of(documents)))


def with_header(**fields: Any) -> bytes:
    """The honest file with other fields in its header."""
    documents = honest()
    documents[0] |= fields
    return packed(documents)


def with_result(**fields: Any) -> bytes:
    """The honest file with other fields in the result of task 1."""
    documents = honest()
    documents[3] |= fields
    return packed(documents)


def without(at: int, field: str) -> bytes:
    """The honest file without a field of one document."""
    documents = honest()
    del documents[at][field]
    return packed(documents)


def changed(change: Callable[[Documents], object]) -> bytes:
    """The honest file after a change of its documents."""
    documents = honest()
    change(documents)
    return packed(documents)


def replaced(old: bytes, new: bytes) -> bytes:
    """The honest file with one piece of its text replaced, sealed again."""
    body = text_of(honest())
    assert old in body
    return gzip.compress(sealed(body.replace(old, new, 1)))


def bomb(head: bytes, piece: bytes, size: int) -> bytes:
    """A file that unpacks to a beginning and then to ``size`` bytes of one piece, again and again.

    After a full flush a packed block refers to nothing before it, and may be repeated as it is.
    """
    packer = zlib.compressobj(9, wbits=31)
    start = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    block = piece * (2**20 // len(piece))
    return start + (packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)) * (size // len(block))


def swap(documents: Documents, *fields: str) -> None:
    """Exchange fields of two results."""
    for field in fields:
        documents[3][field], documents[4][field] = documents[4][field], documents[3][field]


FIRST_LINE = text_of(honest()[:1])
WRONG_NAMES = [
    "../../etc/passwd",
    "a/b",
    "a b",
    ".seven",
    "--ledger",
    "",
    "seven\x1b[2J",
    "seven\nlangford: all is well",
    "seven\0",
]
WRONG_NAMES += [
    "[/evil]",
    "a" * 101,
    "seven'; DROP TABLE task; --",
    "\u202eneves",
    "s\u0435ven",
    HALF,
    7,
    ["seven"],
    None,
]
WRONG_PROBLEMS = {
    "huge": "langford-1000000",
    "of 5,000 digits": "langford-" + "9" * 5_000,
    "with many copies": "langford-9-x9999",
    "with far places": "differences-1.3.5-over-9999",
    "with many differences": "differences-" + ".".join(map(str, range(1, 300))) + "-over-598",
    "of no variant": "eratosthenes-7",
    "of no colour": "langford-0",
    "of foreign digits": "langford-\u0667",
    "with leading zeros": "langford-007",
    "a number": 7,
    "with an escape": "langford-7\x1b[2J",
    "another one": "langford-8",
    "too wide for the method": "langford-60",
}


def malicious() -> Iterator[tuple[str, bytes]]:
    """(what is wrong, content of the file)."""
    yield from ((f"name: {name!r:.20}", with_header(campaign=name)) for name in WRONG_NAMES)
    yield from ((f"problem: {label}", with_header(problem=name)) for label, name in WRONG_PROBLEMS.items())
    yield from headers()
    yield from results()
    yield from promises()
    yield from orders()
    yield from containers()


def headers() -> Iterator[tuple[str, bytes]]:
    """Headers that lie."""
    for field in ("sources", "results", "tasks"):
        true = honest()[0][field]
        for lie in (true - 1, true + 1, -1, 2**40, 10**4000, float(true), true + 0.5, str(true), True, None):
            label = f"{lie!r:.12}" if not isinstance(lie, int) or lie < 10**9 else f"{len(str(lie))} digits"
            yield f"{field}: {label}", with_header(**{field: lie})
    for depth in (-1, 7, 9, 34, 10**6, 8.0, "8", None, [8]):
        yield f"depth: {depth!r}", with_header(depth=depth)
    for method in ("oracle", "", "../polyphase", "polyphase\n", "miller", 0, None, "p" * 10_000):
        yield f"method: {method!r:.14}", with_header(method=method)
    yield "depth: many tasks for few", with_header(problem="langford-27", depth=32)
    yield "depth: much memory", with_header(problem="langford-27", method="godfrey", depth=24)
    yield "depth: a deep search", with_header(problem="langford-31", method="miller", depth=20)
    for form in (
        "langford results 2",
        "langford results 3",
        "langford results 02",
        "",
        None,
        1,
        ["langford results 1"],
        "\x1b[2J",
    ):
        yield f"format: {form!r:.20}", with_header(format=form)
    yield "header: a further field", with_header(seed=1)
    for field in honest()[0]:
        yield f"header: no {field}", without(0, field)


def results() -> Iterator[tuple[str, bytes]]:
    """Results that are none."""
    for field in ("value", "residue", "evaluated"):
        wrong = (1, 1.5, None, "", "1.5", "1e3", "0x10", "+1", "--5", " 1", "١", "NaN", "9" * 4_000, "9" * 201, [])
        for value in wrong:
            yield f"{field}: {value!r:.12}", with_result(**{field: value})
    yield "evaluated: negative", with_result(evaluated="-1")
    yield "value: another one", with_result(value=str(TRUE[1].value + 1))
    yield "value: out of bounds", with_result(value=str(2**600), residue=str(2**600 % (2**64 - 1)))
    yield "value: odd", with_result(value="1", residue="1")
    yield "residue: not reduced", with_result(residue=str(TRUE[1].residue + 2**64 - 1))
    for index in (-1, TASKS, 2**31, 2**70, 1.0, 1.5, "1", True, None, {}):
        yield f"task: {index!r:.12}", with_result(task=index)
    for seconds in (-0.25, -1, 1e30, 10**400, "0.25", None, True, [0.25]):
        yield f"seconds: {seconds!r:.12}", with_result(seconds=seconds)
    for constant in (b"NaN", b"Infinity", b"-Infinity", b"1e400", b"0x1", b"01", b"9" * 5_000):
        yield f"seconds: {constant.decode():.12}", replaced(b'"seconds": 0.25', b'"seconds": ' + constant)
        yield f"task: {constant.decode():.12}", replaced(b'"task": 0', b'"task": ' + constant)
    for number in (-1, 1, 2**64, 0.0, "0", None, True):
        yield f"source: {number!r}", with_result(source=number)
    for label, source in {"long": "x" * 4_001, "nul": "\0", "half a character": HALF, "no text": {}}.items():
        yield f"provenance: {label}", changed(lambda documents, source=source: documents[1].update(source=source))
    yield "result: a further field", with_result(attempt=7)
    for field in honest()[3]:
        yield f"result: no {field}", without(3, field)
    yield "result: a list", replaced(b'{"task": 0, ', b'[{"task": 0, ')
    yield "values swapped", changed(lambda documents: swap(documents, "value"))
    yield "values swapped with residues of others", changed(lambda documents: swap(documents, "residue"))


def promises() -> Iterator[tuple[str, bytes]]:
    """Promises that nobody could have made, or kept."""

    def with_promise(at: int = 0, without: str = "", **fields: Any) -> bytes:
        documents = promising()
        documents[at] |= fields
        documents[at].pop(without, None)
        return packed(documents)

    for share in (-0.5, -1e-300, 1.0000001, 2, 1e29, 1e300, 10**400, "0.5", True, None, [], {}):
        yield f"promise: {share!r:.12}", with_promise(promise=share)
    for constant in (b"NaN", b"Infinity", b"-Infinity", b"1e400", b"0x1"):
        body = text_of(promising()).replace(b'"promise": 0.5', b'"promise": ' + constant)
        yield f"promise: {constant.decode()}", gzip.compress(sealed(body))
    for count in (-1, 0, 2, 4, 2 * TASKS, 2 * TASKS + 1, 2**64, 3.0, "3", True, None):
        yield f"voters: {count!r}", with_promise(voters=count)
    yield "voters: none stated", with_promise(without="voters")
    yield "promise: none", with_promise(without="promise")
    yield "promise: a further field", with_promise(secret="0" * 64)
    yield "promise: in the old format", with_promise(format="langford results 1")
    yield from draws(with_promise)
    yield "drawn: of a promise of nothing", with_promise(promise=0)
    yield "drawn: not all of a promise of all", with_promise(promise=1)
    for flag in (False, 1, 0, "true", None, [True], 0.0):
        yield f"drawn: {flag!r}", with_promise(2, drawn=flag)
        yield f"decided: {flag!r}", with_promise(4, decided=flag)
    for number in (-1, 3, 2, 2**64, 0.0, "0", True, None, [0]):
        yield f"voter: {number!r}", with_promise(2, voter=number)
        if number != 2:
            yield f"confirmed by: {number!r}", with_promise(3, confirmed_by=number)
    yield "confirmed by: itself", with_promise(3, confirmed_by=2)
    yield "confirmed by: nobody", with_promise(2, without="confirmed_by")
    yield "voter: nobody", with_promise(2, without="voter")
    yield "decided: and confirmed", with_promise(2, decided=True)
    yield "voters: in another order", with_promise(2, voter=1, confirmed_by=0)
    for field, value in {"drawn": True, "voter": 0, "confirmed_by": 1, "decided": True}.items():
        yield f"{field}: without a promise", with_result(**{field: value})
    yield "voters: without a promise", with_header(voters=2)
    yield "promise: in a header of the old format", with_header(promise=0.5)
    documents = promising()
    documents[0] |= {"promise": 0.0, "voters": 2}
    for document in documents[2:]:
        document.pop("drawn", None)
    documents[3] |= {"voter": 0, "confirmed_by": 0}
    yield "confirmed by: itself, with no promise", packed(documents)


def draws(with_promise: Callable[..., bytes]) -> Iterator[tuple[str, bytes]]:
    """Secrets that are not those of the draw."""
    secret = "0" * 64
    now, draw = {"format": "langford results 3"}, digest(secret)
    assert any(lot(secret, task) < 0.5 for task in range(3, TASKS))
    yield "draw: of 1.x", with_promise(draw=draw)
    for wrong in ("", secret[1:], secret.upper() + "A", 7, None):
        yield f"draw: {wrong!r:.5}", with_promise(draw=wrong, **now)
    yield "secret: without a draw", with_promise(secret=secret, **now)
    yield "secret: of another draw", with_promise(secret="1" * 64, draw=draw, **now)
    yield "secret: draws more than is marked", with_promise(secret=secret, draw=draw, **now)


def orders() -> Iterator[tuple[str, bytes]]:
    """Documents that are missing, doubled or in another place."""
    yield "a result twice", changed(lambda documents: documents.append(dict(documents[3])))
    yield "a result twice for another", changed(lambda documents: documents.__setitem__(4, dict(documents[3])))
    yield "a task with two values", with_result(task=2)
    yield "a result missing", changed(lambda documents: documents.pop())
    yield "a source missing", changed(lambda documents: documents.pop(1))
    yield "two sources", changed(lambda documents: documents.insert(1, {"source": "x"}))
    yield "two headers", changed(lambda documents: documents.insert(0, dict(documents[0])))
    yield "header last", changed(lambda documents: documents.append(documents.pop(0)))
    yield "source last", changed(lambda documents: documents.append(documents.pop(1)))
    yield "seal first", gzip.compress(b'{"sha256": ""}\n' + text_of(honest()))
    yield "seal in the middle", changed(lambda documents: documents.insert(4, {"sha256": "0" * 64}))
    yield "two seals", gzip.compress(sealed(sealed(text_of(honest()))))
    yield "no seal", gzip.compress(text_of(honest()))
    yield "an empty seal", gzip.compress(text_of(honest()) + b"{}\n")
    yield "seal: another", gzip.compress(text_of(honest()) + b'{"sha256": "%s"}\n' % (b"0" * 64))
    yield "seal: no text", gzip.compress(text_of(honest()) + b'{"sha256": 0}\n')
    yield "seal: a further field", gzip.compress(sealed(text_of(honest()))[:-2] + b', "sha512": ""}\n')
    yield "no line at the end", gzip.compress(sealed(text_of(honest()))[:-1])
    yield "blank lines at the end", gzip.compress(sealed(text_of(honest())) + b"\n\n")
    yield "a blank line within", replaced(b'{"task": 1', b'\n{"task": 1')
    yield "two results on a line", replaced(b'}\n{"task": 1', b'} {"task": 1')


def containers() -> Iterator[tuple[str, bytes]]:
    """Files that are no gzipped lines of JSON, or too much of them."""
    whole = packed(honest())
    yield "nothing", b""
    yield "nothing, packed", gzip.compress(b"")
    yield "no gzip", sealed(text_of(honest()))
    yield "a list for a header", gzip.compress(sealed(b"[1]\n"))
    yield "a header alone", gzip.compress(sealed(FIRST_LINE))
    yield "zlib without gzip", zlib.compress(sealed(text_of(honest())))
    yield "cut short", whole[:-9]
    yield "cut in its header", whole[:5]
    yield "a wrong sum", whole[:-8] + bytes(4) + whole[-4:]
    yield "garbage behind", whole + b"garbage"
    yield "zeros behind", whole + bytes(512)
    yield "a second member", whole + gzip.compress(b"{}\n")
    yield "itself twice", whole + whole
    yield "gzip within gzip", gzip.compress(whole)
    yield "not UTF-8", replaced(b"far", b"f\xe4r")
    yield "UTF-16", gzip.compress(sealed(text_of(honest()).decode().encode("utf-16")))
    yield "a mark of bytes", gzip.compress(sealed(b"\xef\xbb\xbf" + text_of(honest())))
    yield "pickle", gzip.compress(b"\x80\x04\x95\x0f\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix")
    for opening in (b"[", b'{"a":'):
        yield f"deep nesting of {opening.decode()}", gzip.compress(sealed(opening * 12_000 + b"\n"))
    yield "a deep result", replaced(b'"seconds": 0.25', b'"seconds": ' + b"[" * 20_000 + b"]" * 20_000)
    yield "a long line", gzip.compress(sealed(b'"' + b"x" * 2**20 + b'"\n'))
    yield "1 GiB of zeros", bomb(b"", b"\0", 2**30)
    yield "1 GiB of zeros behind a header", bomb(FIRST_LINE, b"\0", 2**30)
    yield "256 MiB of empty lines", bomb(b"", b"\n", 2**28)
    yield (
        "256 MiB of sources",
        bomb(text_of([{**honest()[0], "sources": TASKS}]), b'{"source": "' + b"x" * 1011 + b'"}\n', 2**28),
    )
    header = {**honest()[0], "problem": "langford-27", "method": "miller", "depth": 4, "tasks": 2_000_000}
    yield (
        "256 MiB of sources of two million tasks",
        bomb(
            text_of([{**header, "sources": 2_000_000, "results": 2_000_000}]),
            b'{"source": "' + b"x" * 1011 + b'"}\n',
            2**28,
        ),
    )
