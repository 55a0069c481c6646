"""Reading the files of a run."""

from __future__ import annotations

import errno
import os
import re
import select
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.core.text.file_names import is_yaml_or_json
from kservec.gitops.index import read_index
from kservec.gitops.layout import INDEX, KUSTOMIZATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from kservec.core.text.document import Document

STDIN = "-"
STDIN_NAME = "<stdin>"
OPEN_FILE = r"(?:/dev|/proc/self)/(?:fd/(\d+)|stdin)"
"""What a file is called that this process has open already."""

UNREADABLE = Code(
    "input/unreadable",
    Severity.ERROR,
    "an entry of a folder that cannot be read",
    "A file of an input folder cannot be opened, a folder in it cannot be listed, or a link leads nowhere or in a "
    "circle. What it should hold is unknown, so nothing is written.",
)
NOT_A_FILE = Code(
    "input/not-a-file",
    Severity.WARNING,
    "an entry of a folder that is named like a file and is none",
    "Pipes, sockets and devices in input folders are passed over: reading them might never end. A device is read where "
    "it is named on the command line, and a pipe as standard input: `kservec build - < pipe`.",
)
LED_OUT = Code(
    "project/link-outside",
    Severity.ERROR,
    "a link that leads out of the project",
    "A file of the sources, the platform or `include` is a link to something outside of the folder of kservec.yaml. "
    "A checkout is all that a build needs, so nothing outside of it is read.",
)
NOT_FOLLOWED = Code(
    "input/link-not-followed",
    Severity.NOTE,
    "a link to a folder, which is not followed",
    "Input folders are searched without following links to other folders, as kubectl does. Name the folder on the "
    "command line to read it.",
)


KUSTOMIZATION_PASSED = Code(
    "input/kustomization",
    Severity.NOTE,
    "a kustomization among the files of a folder",
    "Files of a folder are compiled as they are, and a kustomization in it is not run. To have it run, name the folder "
    "as the `overlay` of an environment in kservec.yaml.",
)
KUSTOMIZATIONS = (KUSTOMIZATION, "kustomization.yml", "kustomization")
"""The names of kustomizations in lower case, so that one with capitals is not taken for a manifest either."""


class File(NamedTuple):
    """A file of the input: its name as diagnostics show it, and its content; or why it has none, as a finding.

    `documents` are those to compile where they are not the ones of the content: what an overlay made of its files, and
    with a finding none.
    """

    name: str
    content: bytes
    finding: Diagnostic | None = None
    documents: tuple[Document, ...] | None = None

    @property
    def has_to_be_read(self) -> bool:
        """Whether it has content, or ought to have."""
        return self.finding is None or self.finding.is_error


def read_files(
    paths: Sequence[str], max_bytes: int, *, within: str = "", may_be_empty: bool = False
) -> tuple[File, ...]:
    """Files, folders (the YAML and JSON files below them) and standard input, each once.

    Of folders, what is hidden is left out, and so are trees that kservec wrote; what cannot be read there has a finding
    instead of content. A file that is larger than `max_bytes` is cut just past it: enough for the parser to refuse it.
    With `within`, a folder without links in its path, files of folders that are links to somewhere else have a finding.

    Raises:
        OSError: a path does not exist or cannot be read, a folder holds nothing to read and may not be empty, or
            standard input is named twice. `filename` is the path.
    """
    if paths.count(STDIN) > 1:
        raise OSError(errno.EINVAL, "standard input can be read once only", STDIN)
    found: dict[str, File] = {}
    for path in paths:
        if path == STDIN:
            found[STDIN] = File(STDIN_NAME, read_standard_input(max_bytes + 1))
        else:
            add_files(Path(path), max_bytes, found, within=within, may_be_empty=may_be_empty)
    return tuple(found.values())


def read_standard_input(room: int) -> bytes:
    """What standard input holds, as far as there is room; text where whoever calls kservec has put it there.

    Raises:
        OSError: it is closed, or cannot be read.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise OSError(errno.EBADF, "standard input is closed", STDIN)
    if not hasattr(sys.stdin, "buffer"):
        return sys.stdin.read(room).encode("utf-8", "surrogatepass")
    return read_all(sys.stdin.buffer, room)


def read_all(stream: BinaryIO, room: int) -> bytes:
    """What a stream holds until its end, as far as there is room.

    Raises:
        OSError: it cannot be read.
    """
    content = b""
    while True:
        part: bytes | None = stream.read(room - len(content))
        content += part or b""
        if part is not None and (len(content) == room or not part or is_blocking(stream)):
            return content
        select.select([stream], [], [])


def is_blocking(stream: BinaryIO) -> bool:
    """Whether what is read from a stream is all that there is, and not just what is there by now."""
    try:
        return os.get_blocking(stream.fileno())
    except (OSError, AttributeError):  # no file of the system, or a system that has none of these
        return True


def read_tree(folder: Path, holding: bytes, max_bytes: int) -> tuple[File, ...]:
    """Those files of a tree that kservec wrote which hold some text, by the names that its index lists.

    Raises:
        OSError: the folder has no index, or a file cannot be read.
    """
    listed = read_index((folder / INDEX).read_text(encoding="utf-8", errors="replace"))
    paths = [folder / name for name in sorted(listed) if (folder / name).is_file()]
    files = (File(shown_name(path), read_file(path, max_bytes)) for path in paths)
    return tuple(file for file in files if holding in file.content)


def add_files(
    path: Path, max_bytes: int, found: dict[str, File], *, within: str = "", may_be_empty: bool = False
) -> None:
    """Add a file, or the files of a folder, to what was read, unless it is there already under another name.

    Raises:
        OSError: as `read_files`.
    """
    if not path.is_dir():
        found.setdefault(os.path.realpath(path), File(shown_name(path), read_file(path, max_bytes)))
        return
    os.scandir(path).close()
    something = False
    for entry in entries_below(path):
        identity = os.path.realpath(entry) if isinstance(entry, Path) else entry.message
        if identity not in found:
            if isinstance(entry, Path) and within and not is_within(identity, within):
                found[identity] = led_out(entry)
            else:
                found[identity] = read_entry(entry, max_bytes)
        something |= found[identity].has_to_be_read
    if not something and (not may_be_empty or (path / INDEX).exists()):
        reason = "it is a tree that kservec wrote" if (path / INDEX).exists() else "no YAML or JSON file in this folder"
        raise OSError(errno.ENOENT, reason, str(path))


def is_within(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it; both without links in them."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def led_out(path: Path) -> File:
    """A link that leads out of the project, which is not read."""
    name = shown_name(path)
    message = f"{name} is a link to {shown_name(Path(os.readlink(path)))}, which is outside of the project"
    return File(name, b"", Diagnostic(code=LED_OUT, message=message, span=Span(name), help="copy the file there"))


def read_entry(path: Path | Diagnostic, max_bytes: int) -> File:
    """A file that was found in a folder, or a finding about it."""
    if isinstance(path, Diagnostic):
        return File(path.span.file if path.span is not None else "", b"", path)
    name = shown_name(path)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return File(name, b"", Diagnostic(code=NOT_A_FILE, message=f"{name} is no file", span=Span(name)))
        if path.name.lower() in KUSTOMIZATIONS:
            message = f"{name} is not run: the files beside it are compiled as they are"
            return File(name, b"", Diagnostic(code=KUSTOMIZATION_PASSED, message=message, span=Span(name)))
        return File(name, read_file(path, max_bytes))
    except OSError as error:
        return File(name, b"", unreadable(error, path))


def unreadable(error: OSError, path: Path) -> Diagnostic:
    """The finding about an entry of a folder that cannot be read."""
    name = shown_name(path)
    if path.is_symlink() and error.errno in (errno.ENOENT, errno.ELOOP):
        target = shown_name(Path(os.readlink(path)))
        way = "leads back to itself" if error.errno == errno.ELOOP else "is not there"
        message, remedy = f"{name} is a link to {target}, which {way}", "mend or remove the link"
    else:
        message, remedy = f"cannot read {name}: {error.strerror}", "make it readable, or move it out of the folder"
    return Diagnostic(code=UNREADABLE, message=message, span=Span(name), help=remedy)


def read_file(path: Path, max_bytes: int) -> bytes:
    """The content of a file, a device or an open pipe, such as a shell's `<(...)`.

    Raises:
        OSError: it cannot be read, or reading it might wait for ever.
    """
    mode = path.stat().st_mode
    if stat.S_ISSOCK(mode) or (stat.S_ISFIFO(mode) and os.path.exists(os.path.realpath(path))):
        return read_open(path, max_bytes)
    with path.open("rb") as file:
        return file.read(max_bytes + 1)


def read_open(path: Path, max_bytes: int) -> bytes:
    """The content of a socket, or of a pipe with a name in the file system, if this process has it open by a number.

    What a shell puts in the place of `<(...)` has no such name on Linux. To open a named pipe again, be it by its
    number, would wait for somebody else who writes to it, and sockets cannot be opened at all.

    Raises:
        OSError: it is not open, or cannot be read.
    """
    number = re.fullmatch(OPEN_FILE, os.path.abspath(path))
    if number is None and path.is_fifo():
        remedy = f"give its content as standard input: - < {path.name}"
        raise OSError(errno.EINVAL, f"it is a pipe, to which nobody may ever write; {remedy}", str(path))
    if number is None:
        raise OSError(errno.ENXIO, "it is a socket; name a file", str(path))
    with os.fdopen(os.dup(int(number[1] or 0)), "rb") as file:
        return read_all(file, max_bytes + 1)


def shown_name(path: Path) -> str:
    """A path as text; bytes of it that are no UTF-8 are spelt out."""
    return path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def entries_below(folder: Path) -> Iterator[Path | Diagnostic]:
    """The YAML and JSON files of a folder in the order of their names, and findings about what is passed over."""
    failed: list[OSError] = []
    for current, folders, files in os.walk(folder, onerror=failed.append):
        if INDEX in files:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (not_followed(path) for name in folders if (path := Path(current, name)).is_symlink())
        yield from (Path(current, name) for name in sorted(files) if is_looked_at(name))
    yield from (unreadable(error, Path(os.fsdecode(error.filename))) for error in failed)


def is_looked_at(name: str) -> bool:
    """Whether a file of a folder is read, or has something said about it, by its name."""
    return not name.startswith(".") and (is_yaml_or_json(name) or name.lower() in KUSTOMIZATIONS)


def not_followed(path: Path) -> Diagnostic:
    """The note about a link to a folder."""
    name = shown_name(path)
    return Diagnostic(code=NOT_FOLLOWED, message=f"{name} is a link to a folder, and not followed", span=Span(name))
