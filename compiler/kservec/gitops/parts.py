"""Parts of a rendered tree: what each of several machines makes, and how they become one tree again. Pure.

A part is a tree of its own, with the folders of its namespaces, an index, and a mark that says which part of what it
is. What only all parts together tell (the top, the objects for Argo CD and Flux) is made when they are joined.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, ObjectRef, Severity, Span
from kservec.core.golang.decoding import decode
from kservec.core.share import Share, share_of
from kservec.gitops.annotations import bare
from kservec.gitops.index import Entry, index_text, read_index
from kservec.gitops.layout import INDEX, KUSTOMIZATION, digest
from kservec.gitops.rendered import CLUSTER_FOLDER, GITOPS_FOLDER, INCLUDED_FOLDER, Rendered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

MARK = "kservec.part.json"
OTHER_INPUTS = Code(
    "output/parts-of-other-inputs",
    Severity.WARNING,
    "parts of a tree that were not made of the files that are here",
    "The parts were made by another kservec, or of files that have changed since, so what they make up is not what a "
    "build writes now. Make all parts anew, or join them beside the files they were made of.",
)
_match_head = re.compile(r"apiVersion: (\S+)\nkind: (\S+)\nmetadata:\n((?: [^\n]*\n)+)").match
_find_name = re.compile(r"^  name: (.+)$", re.MULTILINE).search
_find_namespace = re.compile(r"^  namespace: (.+)$", re.MULTILINE).search


class Part(NamedTuple):
    """A part as it lies in a folder: its name, its files by path, as far as the index lists them, and that index."""

    folder: str
    files: Mapping[str, bytes]
    entries: Mapping[str, tuple[Entry, ...]]


class UnfitPartError(Exception):
    """Why parts cannot be joined."""


def mark_text(environment: str, share: Share, inputs: str) -> str:
    """The text of a mark. `inputs` is a digest of all that was compiled, which is the same for all parts."""
    fields = {"kind": "Part", "environment": environment, "part": str(share), "inputs": inputs}
    return json.dumps({"apiVersion": "kservec.dev/v1alpha1", **fields}) + "\n"


def inputs_digest(version: str, contents: Iterable[bytes]) -> str:
    """A digest of everything that a build reads; their order does not count."""
    return hashlib.sha256("\n".join([version, *sorted(map(digest, contents))]).encode()).hexdigest()


def marked_part(tree: Mapping[str, bytes], mark: str) -> dict[str, bytes]:
    """The tree of a part with its mark."""
    entries = {path: several[0] for path, several in read_index(tree[INDEX].decode()).items()}
    return {**tree, MARK: mark.encode(), INDEX: index_text({**entries, MARK: Entry()}).encode()}


def joined(parts: Sequence[Part], environment: str) -> tuple[Rendered, ...]:
    """The objects of all parts of an environment, in their total order. At least one part is given.

    Raises:
        UnfitPartError: a part is missing, is of something else, or was changed; or two parts make an object otherwise.
    """
    refuse_mixed(parts, environment)
    objects: dict[ObjectRef, tuple[Rendered, str]] = {}
    for part in parts:
        for rendered in objects_in(part.entries, intact(part)):
            known, folder = objects.setdefault(rendered.ref, (rendered, part.folder))
            if known is not rendered and not (rendered.shared and known.text == rendered.text):
                message = f"{known.possessor} in {folder} and {rendered.possessor} in {part.folder} both lead to"
                raise UnfitPartError(f"{message} {rendered.ref}")
    return tuple(rendered for _, (rendered, _) in sorted(objects.items()))


def refuse_mixed(parts: Sequence[Part], environment: str) -> None:
    """Refuse parts that do not belong together.

    Raises:
        UnfitPartError: they do not.
    """
    known: dict[Share, str] = {}
    first = mark_of(parts[0])
    for folder, mark in ((part.folder, mark_of(part)) for part in parts):
        if mark.environment != environment:
            raise UnfitPartError(f"{folder} is a part of {whole(mark.environment)}, not of {whole(environment)}")
        if mark.share.of != first.share.of:
            raise UnfitPartError(f"{parts[0].folder} is part {first.share}, and {folder} is part {mark.share}")
        if mark.inputs != first.inputs:
            message = f"{parts[0].folder} and {folder} were not made of the same inputs by the same kservec"
            raise UnfitPartError(message)
        if mark.share in known:
            both = folder if known[mark.share] == folder else f"{known[mark.share]} and {folder}"
            raise UnfitPartError(f"part {mark.share} is there twice, in {both}; name each part once")
        known[mark.share] = folder
    if missing := [share for share in first.share.siblings if share not in known]:
        raise UnfitPartError(f"missing: {', '.join(map(str, missing))}; name the folder of each part with --join")


def other_inputs(part: Part, inputs: str) -> tuple[Diagnostic, ...]:
    """The warning about a part that was not made of inputs with this digest, if it was not.

    Raises:
        UnfitPartError: its mark cannot be read.
    """
    if mark_of(part).inputs == inputs:
        return ()
    message = "the parts were not made of the files that are here, or not by this kservec"
    hint = "make them anew with kservec build --shard; kservec check tells what differs"
    return (Diagnostic(code=OTHER_INPUTS, message=message, span=Span(f"{part.folder}/{MARK}"), help=hint),)


def whole(environment: str) -> str:
    """What a part is of, in words: an environment, or files without a project."""
    return environment or "files"


class Mark(NamedTuple):
    """What a part is of: the environment, empty for files; which part it is; a digest of all that was compiled."""

    environment: str
    share: Share
    inputs: str


def mark_of(part: Part) -> Mark:
    """What the mark of a part says.

    Raises:
        UnfitPartError: it has none, or one that nobody of ours wrote.
    """
    try:
        fields = decode(part.files[MARK].decode())
        share = share_of(fields["part"])
        environment, inputs = fields["environment"], fields["inputs"]
    except (KeyError, TypeError, ValueError):
        share = None
    if share is None or not (isinstance(environment, str) and isinstance(inputs, str)):
        raise UnfitPartError(f"{part.folder} is no part that kservec build --shard wrote")
    return Mark(environment, share, inputs)


def intact(part: Part) -> Callable[[str], str]:
    """What gives the text of a file of a part.

    Raises:
        UnfitPartError: when it is called, if the file is missing or is not what the index says.
    """

    def text(path: str) -> str:
        content = part.files.get(path)
        if content is None or digest(content) not in {entry.sha256 for entry in part.entries[path]}:
            raise UnfitPartError(f"{part.folder}/{path} is not what kservec wrote")
        return content.decode()

    return text


def objects_in(entries: Mapping[str, Sequence[Entry]], text: Callable[[str], str | None]) -> Iterator[Rendered]:
    """The objects that an index lists, without those for Argo CD and Flux. A file without text is passed over."""
    for path, several in entries.items():
        if path.rpartition("/")[2] in (INDEX, KUSTOMIZATION, MARK) or path.startswith(f"{GITOPS_FOLDER}/"):
            continue
        content = text(path)
        rendered = rendered_from(path, content, several[0].owner) if content is not None else None
        if rendered is not None:
            yield rendered


def rendered_from(path: str, text: str, possessor: str) -> Rendered | None:
    """The object of a file that kservec wrote; None if it cannot be one."""
    found = _match_head(text)
    if found is None:
        return None
    api_version, kind, metadata = found.groups()
    namespace, name = (bare(m[1]) if (m := find(metadata)) else "" for find in (_find_namespace, _find_name))
    home, _, rest = possessor.partition("/")
    owner_kind, _, owner_name = rest.partition("/")
    owner = ObjectRef("", owner_kind, "" if home == CLUSTER_FOLDER else home, owner_name)
    folder = path.rpartition("/")[0]
    place = folder if folder.endswith(INCLUDED_FOLDER) else ""
    rendered = Rendered(ObjectRef(api_version, kind, namespace, name), text, owner, shared=not rest, place=place)
    return rendered if rendered.path == path else None


def namespace_of(possessor: str) -> str:
    """The namespace of whoever an object belongs to; empty for what belongs to the cluster."""
    home = possessor.partition("/")[0]
    return "" if home == CLUSTER_FOLDER else home


def is_of_nobody(possessor: str) -> bool:
    """Whether an object of the cluster is shared, so that services of any part may have made it."""
    return "/" not in possessor and not namespace_of(possessor)


class Duty(NamedTuple):
    """What a part answers for in a whole tree.

    `planned` is the tree that a build writes, where the index says of the files of others what the present one does.
    `owners` is whose each file is, by either index.
    """

    share: Share
    planned: Mapping[str, bytes]
    owners: Mapping[str, str]

    @classmethod
    def of(cls, share: Share, planned: Mapping[str, bytes], index: bytes | None) -> Duty:
        """The duty of a part, by a planned tree and the index that is there, None if there is none."""
        due = {path: several[0] for path, several in read_index(planned[INDEX].decode()).items()}
        there = {path: several[0] for path, several in read_index((index or b"").decode(errors="replace")).items()}
        owners = {path: entry.owner for path, entry in {**there, **due}.items()}
        duty = cls(share, planned, owners)
        if index is None:
            return duty
        own = {path: entry for path, entry in due.items() if duty.includes(path)}
        theirs = {path: entry for path, entry in there.items() if not duty.includes(path)}
        return duty._replace(planned={**planned, INDEX: index_text({**own, **theirs}).encode()})

    def includes(self, path: str) -> bool:
        """Whether the part answers for a file: by its owner, or by its folder if it has none, as kustomizations."""
        if owner := self.owners.get(path):
            return is_of_nobody(owner) or self.share.holds(namespace_of(owner))
        home, slash, _ = path.partition("/")
        return not slash or home.startswith("_") or self.share.holds(home)
