"""One file with a JSON document and arrays, which can be read without trusting whoever wrote it.

It is a zip archive without compression: ``document.json``, then the arrays ``0.npy``, ``1.npy``, ...  The archive's
comment is the SHA-256 of all bytes before it, so damage is noticed.  Whoever changes a file on purpose can work it out
anew; therefore nothing is unpickled, no name in the file names a file on disk, and no array is made larger than the
bytes that are there.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from aomultirl import checks

DOCUMENT = "document.json"
DIGEST = 64
LONG_AGO = (1980, 1, 1, 0, 0, 0)
KINDS = ("<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1")
"""Kinds of arrays, as NumPy writes them."""
MOST_HEADER = 1000


def pack(document: Mapping[str, Any], arrays: Sequence[NDArray[Any]]) -> bytes:
    """The bytes of the file; the same for the same content."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = b"0" * DIGEST
        text = json.dumps(document, allow_nan=False, separators=(",", ":"))
        archive.writestr(zipfile.ZipInfo(DOCUMENT, LONG_AGO), text.encode())
        for number, array in enumerate(arrays):
            archive.writestr(zipfile.ZipInfo(f"{number}.npy", LONG_AGO), _npy(array))
    content = file.getvalue()[:-DIGEST]
    return content + hashlib.sha256(content).hexdigest().encode()


def unpack(data: bytes) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """(document, arrays); ValueError for anything that :func:`pack` cannot have made."""
    if not data.startswith(b"PK\x03\x04"):
        raise ValueError("it is not a zip archive")
    content, digest = data[:-DIGEST], data[-DIGEST:]
    if hashlib.sha256(content).hexdigest().encode() != digest:
        raise ValueError("it is damaged: its content does not have the SHA-256 that it ends with")
    try:
        document, *rest = _members(data)
        arrays = [_array(content) for content in rest]
        found = json.loads(document)
    except ValueError:
        raise
    except Exception as error:  # zipfile has many ways to fail
        raise ValueError(f"it cannot be read: {type(error).__name__}: {checks.cut(str(error))}") from None
    if not isinstance(found, dict):
        raise ValueError(f"its {DOCUMENT} is not a table of names and values")
    return found, arrays


def _members(data: bytes) -> list[bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        names = [member.filename for member in members]
        wanted = [DOCUMENT, *(f"{number}.npy" for number in range(len(names) - 1))]
        if names != wanted:
            other = next((name for name, mine in zip(names, wanted, strict=False) if name != mine), "nothing")
            raise ValueError(f"it holds {checks.shown(other)} where {DOCUMENT!r} and the arrays should be")
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("it is compressed, which saved agents are not")
        if sum(member.file_size for member in members) > len(data):
            raise ValueError("it claims to hold more than it does")
        return [archive.read(member) for member in members]


def _npy(array: NDArray[Any]) -> bytes:
    file = io.BytesIO()
    npy.write_array(file, np.asarray(array, order="C"), version=(1, 0), allow_pickle=False)
    return file.getvalue()


def _array(content: bytes) -> NDArray[Any]:
    """An array of one of KINDS, of the size that is there."""
    file = io.BytesIO(content)
    try:
        if npy.read_magic(file) != (1, 0):
            raise ValueError("it is of another version")
        shape, by_columns, kind = npy.read_array_header_1_0(file, max_header_size=MOST_HEADER)
    except Exception as error:  # the reader of headers has many ways to fail
        raise ValueError(f"it holds an array that cannot be read: {checks.cut(str(error))}") from None
    if kind.str not in KINDS:
        raise ValueError(f"it holds an array of {kind.name}, which saved agents do not")
    if by_columns or any(length < 0 for length in shape):
        raise ValueError(f"it holds an array of shape {checks.shown(shape)} that is laid out in another way")
    count = 1
    for length in shape:
        count *= length
    body = content[file.tell() :]
    if count * kind.itemsize != len(body):
        raise ValueError(f"it holds an array of shape {checks.shown(shape)} with {len(body)} bytes")
    if kind == np.bool_ and body.strip(b"\x00\x01"):
        raise ValueError("it holds an array of bool with entries that are neither true nor false")
    return np.frombuffer(body, kind).reshape(shape).copy()
