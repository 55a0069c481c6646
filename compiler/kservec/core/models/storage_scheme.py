"""Storage schemes: what a plug offers that brings models in from one kind of place, and what it is asked for.

Decides what may differ between schemes: the URIs that are theirs, how a model gets into a pod, and what else they can
do. Must not know any scheme: those are the plugs of `storage/`, and `registry` finds them.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.records import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.registry import Env
    from kservec.core.tree import Origin, Tree


class Delivery(Enum):
    """How a storage scheme brings a model into a pod."""

    DOWNLOAD = auto()
    MOUNT = auto()
    IMAGE = auto()


class SchemeTrait(Enum):
    """What a storage scheme can do beyond the ordinary."""

    IMAGES = auto()
    """What it downloads is named as an image of a registry."""
    MULTI_NODE = auto()
    STORAGE_TYPE = auto()
    """The `type` of a storage spec may name it."""
    BUCKET = auto()
    """Its URIs begin with a bucket, which a storage spec gives apart from the path."""
    NODE_CACHE = auto()
    """Copies of models on the nodes are read through it."""
    PULLED = auto()
    """The agent of a multi-model server pulls from it. KServe: pkg/agent/storage/provider.go, SupportedProtocols"""
    LLM = auto()
    """The model of an LLMInferenceService may lie there. KServe: workload_storage.go, attachModelArtifacts"""
    LORA = auto()
    """Its LoRA adapters may lie there. KServe: workload_lora.go, enumerateLoRAAdapters"""
    FILES = auto()
    """Its URIs name files of the container that downloads, by paths that begin with a slash."""
    PRIVATE_AUTHORITY = auto()
    """Servers may be one's own, so that a download for an LLMInferenceService gets the platform's CA bundle."""


@record
class Placement:
    """One model to bring into a pod, and the containers that read it.

    `several` marks an entry of `storageUris`; `index` counts the models of a pod that come as images, from 0.
    `pull_policy` is that of a container which stays beside the model server, empty for the API server's default.
    `volume` names the volume, where the scheme's own name will not do.
    """

    uri: str
    mount_path: str
    origin: Origin
    subject: ObjectRef
    targets: tuple[str, ...]
    several: bool = False
    read_only: bool = True
    index: int = 0
    pull_policy: str = ""
    volume: str = ""


class Attached(NamedTuple):
    """A pod with a model attached, and what was found on the way."""

    pod: Tree
    diagnostics: tuple[Diagnostic, ...] = ()


class Lack(NamedTuple):
    """What a URI does not say and its download asks for, in words, and the form that has all of it.

    `is_start` marks what all the rest lies in, a bucket or a host: without that no program can make sense of the URI.
    """

    parts: str
    form: str
    is_start: bool = False


@record
class Scheme:
    """One way of getting a model in. `attach` is None for schemes that the storage initializer downloads.

    `prefixes` end in `://`. `claims` is for schemes that are known by more than a prefix: how much of a URI the scheme
    recognises, 0 for nothing; the longest claim wins. `accepts` refuses URIs of the scheme that are malformed.
    `lacking` says what of the scheme's form a URI leaves out, where the form has more than one part. `most_parts` is
    how many parts a URI has at most, between slashes; 0 for any number.
    `supported` tells whether KServe's own list of URIs has the scheme; others need a ClusterStorageContainer.
    `aliases` are what people write for the scheme, as other tools call it.
    `forms` is how that list shows the scheme, its prefixes by default. `resolve` gives the URI of another scheme that
    stands for one of this scheme, `resolve_for_llm` the same where the pods of LLMInferenceServices differ.
    `download_env` is what every download container gets unless it has it already.
    `revision_mark` stands before the revision in a URI, empty for schemes whose URIs name none; `hub` is where the
    commit of a revision is asked for, a URL with `{repository}` and `{revision}`; `hub_config` is such a URL of the
    file that describes the model.
    """

    name: str
    prefixes: tuple[str, ...]
    delivery: Delivery
    traits: frozenset[SchemeTrait] = frozenset()
    claims: Callable[[str], int] | None = None
    accepts: Callable[[str], bool] | None = None
    lacking: Callable[[str], Lack | None] | None = None
    most_parts: int = 0
    supported: bool = True
    aliases: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    resolve: Callable[[str, Env], str] | None = None
    resolve_for_llm: Callable[[str, Env], str] | None = None
    attach: Callable[[Tree, Placement, Env], Attached] | None = None
    download_env: tuple[tuple[str, str], ...] = ()
    revision_mark: str = ""
    hub: str = ""
    hub_config: str = ""

    def revision_of(self, uri: str) -> tuple[str, str]:
        """A URI without its revision, and the revision; empty where it names none."""
        place, separator, name = uri.partition("://")
        name, mark, revision = name.partition(self.revision_mark) if self.revision_mark else (name, "", "")
        return f"{place}{separator}{name}", revision if mark else ""


def lacking_owner_or_model(uri: str) -> Lack | None:
    """What the URI of a hub leaves out; a revision may follow the model.

    KServe: python/storage, _download_hf and _download_ms
    """
    scheme, _, rest = uri.partition("://")
    owner, slash, model = rest.partition("/")
    if owner and model.partition(":")[0]:
        return None
    return Lack("the model" if slash and owner else "the owner or the model", f"{scheme}://OWNER/MODEL")


def lacking_start(parts: str, form: str) -> Callable[[str], Lack | None]:
    """What tells that a URI of a form begins with its path, and leaves out what that lies in: a bucket or a claim."""

    def lacking(uri: str) -> Lack | None:
        return Lack(parts, form, is_start=True) if uri.partition("://")[2].startswith("/") else None

    return lacking
