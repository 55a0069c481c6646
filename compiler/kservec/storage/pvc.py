"""pvc: models on a PersistentVolumeClaim, which is mounted and not copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.models.storage_scheme import Attached, Delivery, Placement, Scheme, SchemeTrait, lacking_start
from kservec.core.pods.mounts import add_mounts, add_volume, mount, volume_name

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.tree import Tree

PREFIX = "pvc://"
VOLUME = "kserve-pvc-source"

FILE_MOUNTED = Code(
    "storage/file-mounted",
    Severity.WARNING,
    "a file seems to be mounted where servers expect a directory",
    "The path inside the claim ends like a file's name. It is mounted at the model's directory, and most servers look "
    "for files in there. Name the directory that holds the file.",
)


def attach(pod: Tree, placement: Placement, env: Env) -> Attached:
    """Mount the claim, at the path inside it that the URI names.

    For `storageUris` KServe forgets that path; here it counts.
    KServe: pkg/utils/storage.go, ParsePvcURI and AddModelMount
    """
    del env
    claim, _, path = placement.uri.removeprefix(PREFIX).partition("/")
    path = path.lstrip("/")
    name = placement.volume or (volume_name(placement.mount_path, VOLUME) if placement.several else VOLUME)
    wanted = mount(name, placement.mount_path, sub_path=path, read_only=placement.read_only)
    mounted = add_mounts(pod, placement.targets, wanted, placement.origin, placement.subject)
    if mounted is pod:
        return Attached(pod)
    volume = {"name": name, "persistentVolumeClaim": {"claimName": claim}}
    return Attached(add_volume(mounted, volume, placement.origin), file_mounted(path, placement))


def file_mounted(path: str, placement: Placement) -> tuple[Diagnostic, ...]:
    """The warning about a path that looks like a file's."""
    stem, dot, ending = path.rstrip("/").rpartition("/")[2].rpartition(".")
    if not (dot and stem and ending.isalpha()):
        return ()
    return (
        Diagnostic(
            code=FILE_MOUNTED,
            message=f"{path} looks like a file and is mounted at {placement.mount_path}",
            span=placement.origin.span(),
            help=f"name the directory that holds it: {placement.uri.rstrip('/').rpartition('/')[0]}",
            subject=placement.subject,
        ),
    )


SCHEME = Scheme(
    name="pvc",
    prefixes=(PREFIX,),
    delivery=Delivery.MOUNT,
    lacking=lacking_start("the claim", "pvc://CLAIM/PATH"),
    traits=frozenset((SchemeTrait.MULTI_NODE, SchemeTrait.NODE_CACHE, SchemeTrait.LLM, SchemeTrait.LORA)),
    attach=attach,
)
