"""Reading what an overlay reaches: from its kustomization on, each file once, and nothing outside of the project."""

from __future__ import annotations

import os
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Diagnostic, Span
from kservec.core.text.file_names import is_yaml_or_json
from kservec.core.text.source import parse
from kservec.io.named_paths import meant
from kservec.io.reading import read_file, shown_name
from kservec.overlays.closure import Closure, Patch, is_below, patches_of, resolved
from kservec.overlays.judging import (
    CIRCLE,
    NO_MAP,
    NOT_FOUND,
    OUTSIDE,
    field_findings,
    is_remote,
    kind_findings,
    plugin_finding,
    remote,
)
from kservec.overlays.kustomization import NAMES, PLUGINS, Kustomization, Reference, Use, plugin_references
from kservec.overlays.texts import read_content

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.text.source import Document, Limits

NOTHING: Mapping[str, bytes | None] = MappingProxyType({})


def read_closure(
    root: Path, start: str, named: Span, limits: Limits, pending: Mapping[str, bytes | None] = NOTHING
) -> tuple[Closure, tuple[Diagnostic, ...]]:
    """Everything that an overlay reaches, and what is wrong with it that can be told before kustomize is run.

    Args:
        root: the folder of the project.
        start: the folder of the overlay, below it.
        named: where the project names the overlay.
        limits: what a file may hold.
        pending: contents that files are taken to have, as a workspace has them.

    Raises:
        OSError: a file cannot be read.
    """
    reader = ClosureReader(root, limits, pending)
    reader.folder(resolved("", start) or "", named)
    closure = Closure(
        start=resolved("", start) or "",
        kustomizations=reader.kustomizations,
        contents=reader.contents,
        objects=reader.objects,
        texts=reader.texts,
        patches={folder: reader.patches(k) for folder, k in reader.kustomizations.items()},
    )
    return closure, tuple(reader.findings)


class ClosureReader:
    """What was read so far."""

    def __init__(self, root: Path, limits: Limits, pending: Mapping[str, bytes | None] = NOTHING) -> None:
        self.root = root
        self.limits = limits
        self.pending = pending
        self.real_root = os.path.realpath(root)
        self.kustomizations: dict[str, Kustomization] = {}
        self.contents: dict[str, bytes] = {}
        self.objects: dict[str, tuple[Document, ...]] = {}
        self.texts: dict[str, tuple[Document, ...]] = {}
        self.findings: list[Diagnostic] = []
        self.open: list[str] = []

    def folder(self, folder: str, named: Span) -> None:
        """Read the kustomization of a folder, and what it refers to; `named` is where somebody refers to it."""
        if folder in self.open:
            way = " -> ".join((*self.open[self.open.index(folder) :], folder))
            self.findings.append(Diagnostic(code=CIRCLE, message=f"{way} is a circle", span=named, help="remove this"))
        if folder in self.kustomizations or folder in self.open:
            return
        found = [name for name in NAMES if (self.root / folder / name).is_file()]
        if len(found) != 1:
            self.findings.append(no_kustomization(folder, found, self.root / folder, named))
            return
        path = f"{folder}/{found[0]}".lstrip("/")
        if not self.is_inside(path, folder, named):
            return
        kustomization = self.kustomization(folder, path)
        if kustomization is None:
            return
        self.kustomizations[folder] = kustomization
        odd = tuple(kind_findings(kustomization))
        self.findings += odd or field_findings(kustomization)
        self.open.append(folder)
        for field in PLUGINS:
            for i, item in kustomization.items(field):
                if isinstance(item, str) and "\n" in item:
                    documents, _ = read_content(item.encode(), path, self.limits)
                    self.plugins(documents, folder, kustomization.span(field, i))
        for reference in kustomization.references:
            self.follow(kustomization, reference)
        self.open.pop()

    def kustomization(self, folder: str, path: str) -> Kustomization | None:
        """The kustomization that a file holds; None if it holds none."""
        documents, found = parse(self.content(path), shown_name(self.root / path), self.limits)
        self.findings += found
        if len(documents) != 1:
            if not found:
                message = "a kustomization is one document; here are " + ("none" if not documents else "several")
                span = Span(shown_name(self.root / path))
                self.findings.append(Diagnostic(code=NO_MAP, message=message, span=span, help="write one document"))
            return None
        return Kustomization(folder=folder, path=path, document=documents[0])

    def content(self, path: str) -> bytes:
        """The content of a file, which is kept."""
        if path not in self.contents:
            pending = self.pending.get(path)
            self.contents[path] = read_file(self.root / path, self.limits.max_bytes) if pending is None else pending
        return self.contents[path]

    def is_there(self, path: str) -> bool:
        """Whether there is a file or a folder at a path."""
        return self.pending[path] is not None if path in self.pending else (self.root / path).exists()

    def follow(self, kustomization: Kustomization, reference: Reference) -> None:
        """Read what a kustomization refers to."""
        span = kustomization.span(*reference.at)
        path = resolved(kustomization.folder, reference.text)
        there = path is not None and self.is_there(path)
        if is_remote(reference.text, exists=there):
            self.findings.append(remote(reference, span))
        elif path is None:
            self.findings.append(outside(f"{reference.text} leads out of the project", span))
        elif not there:
            self.findings.append(missing(reference, span))
        elif (self.root / path).is_dir():
            self.folder_of(reference, path, span)
        elif reference.use is Use.FOLDER:
            message = f"{reference.text} is a file; here only folders with a kustomization can be named"
            self.findings.append(Diagnostic(code=NOT_FOUND, message=message, span=span, help="name its folder"))
        elif self.is_inside(path, kustomization.folder, span):
            self.file(kustomization, reference, path)

    def folder_of(self, reference: Reference, path: str, span: Span) -> None:
        """Read a folder that a kustomization refers to."""
        real = os.path.realpath(self.root / path)
        if reference.use not in (Use.OBJECTS, Use.FOLDER, Use.PLUGIN):
            message = f"{reference.text} is a folder; here a file is named"
            self.findings.append(Diagnostic(code=NOT_FOUND, message=message, span=span, help="name the file"))
            return
        if not is_below(real, self.real_root) and real != self.real_root:
            self.findings.append(outside(f"{reference.text} leads out of the project by a link", span))
            return
        known = set(self.objects)
        self.folder(path, span)
        if reference.use is Use.PLUGIN:
            for file in sorted(self.objects.keys() - known):
                self.plugins(self.objects[file], file.rpartition("/")[0], span)

    def is_inside(self, path: str, folder: str, span: Span) -> bool:
        """Whether a file is below the folder of its kustomization, also where links lead; an error is kept if not."""
        real, home = (os.path.realpath(self.root / p) for p in (path, folder))
        if is_below(path, folder) and is_below(real, home):
            return True
        if not is_below(real, self.real_root):
            self.findings.append(outside(f"{path} leads out of the project by a link", span))
        else:
            self.findings.append(outside(f"{path} is outside of {folder}, the folder of this kustomization", span))
        return False

    def file(self, kustomization: Kustomization, reference: Reference, path: str) -> None:
        """Read a file that a kustomization refers to."""
        content, name = self.content(path), shown_name(self.root / path)
        if reference.use is Use.OBJECTS and path not in self.objects:
            self.objects[path], found = parse(content, name, self.limits)
            self.findings += found
        elif reference.use is Use.PATCH and path not in self.texts:
            self.texts[path], found = read_content(content, name, self.limits)
            self.findings += found
        elif reference.use is Use.PLUGIN:
            documents, found = read_content(content, name, self.limits)
            self.findings += found
            self.plugins(documents, kustomization.folder, kustomization.span(*reference.at))

    def plugins(self, documents: tuple[Document, ...], folder: str, named: Span) -> None:
        """Judge configurations of generators and the like, and read the files that they refer to."""
        for document in documents:
            finding = plugin_finding(document.value, named)
            self.findings += [finding] if finding is not None else []
            for text in plugin_references(document.value):
                path = resolved(folder, text)
                if path is not None and (self.root / path).is_file() and self.is_inside(path, folder, named):
                    self.content(path)

    def patches(self, kustomization: Kustomization) -> tuple[Patch, ...]:
        """The patches of a kustomization; what is wrong with their texts is kept."""
        made, found = patches_of(kustomization, self.texts, self.limits)
        self.findings += found
        return made


def no_kustomization(folder: str, found: list[str], path: Path, named: Span) -> Diagnostic:
    """The error about a folder without a kustomization, or with several."""
    shown = shown_name(path)
    if found:
        message, hint = f"{shown} holds {' and '.join(found)}", "keep one of them"
    elif not path.is_dir():
        message, hint = f"there is no folder {shown}", meant(path, "name a folder that holds a kustomization.yaml")
    else:
        files = sorted(p.name for p in path.iterdir() if is_yaml_or_json(p.name))
        listed = "".join(f"\n  - {name}" for name in files)
        message = f"{shown} holds no kustomization.yaml"
        hint = f"add one, e.g.:\nresources:{listed}" if files else "add one"
    return Diagnostic(code=NOT_FOUND, message=message, span=named, help=hint, label=folder)


def outside(message: str, span: Span) -> Diagnostic:
    """The error about a path that leads where nothing may be read."""
    hint = "name a folder that holds a kustomization, inside of the project; files are named by the one beside them"
    return Diagnostic(code=OUTSIDE, message=message, span=span, help=hint)


def missing(reference: Reference, span: Span) -> Diagnostic:
    """The error about something that is not there."""
    message = f"there is no {reference.text} here"
    return Diagnostic(code=NOT_FOUND, message=message, span=span, help="paths are relative to the kustomization")
