"""Models by URI: whether the revision that is downloaded is a commit, or whatever a branch holds on that day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.lock import is_commit
from kservec.core.schemas.faults import Fault
from kservec.policy.images import LOCK_MISSING
from kservec.policy.servers import Server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.registry import Plugs
    from kservec.core.tree import Path
    from kservec.policy.scene import Container, Pod, Scene

MODEL_REVISION = Code(
    "policy/model-revision",
    Severity.WARNING,
    "a model whose revision is not pinned",
    "Off unless the project turns the rule on. Without a commit a pod that is started anew may serve another model "
    "than its neighbours. `kservec lock --update` finds the commits, and builds write them into the URIs.",
)
SEPARATOR = "://"
MODELS = ("--model", "--model_id", "--model-id")


def check_models(scene: Scene) -> Iterator[Fault]:
    """Models that are downloaded before the server starts, and those that it downloads itself."""
    for pod in scene.pods:
        for path, uri in uris_in(pod, scene.site.plugs):
            scheme = scene.site.plugs.scheme(uri)
            if scheme is not None and not is_commit(scheme.revision_of(uri)[1]):
                yield Fault(MODEL_REVISION, path, f"model {uri} is of no fixed revision", help=REMEDY)
                if scene.site.lock is not None:
                    message = f"model {uri} is not in the lock file"
                    yield Fault(LOCK_MISSING, path, message, help="run kservec lock --update, and commit the file")
        for container in pod.servers:
            yield from downloaded_by(container, pod)


REMEDY = "run kservec lock --update, or write the commit into the URI"


def uris_in(pod: Pod, plugs: Plugs) -> Iterator[tuple[Path, str]]:
    """The URIs that a pod downloads models by and that can name a revision, with their places."""
    for container in pod.containers:
        for i, argument in enumerate(container.body.get("args") or ()):
            text = str(argument)
            scheme = plugs.scheme(text) if SEPARATOR in text and " " not in text else None
            if scheme is not None and scheme.revision_mark:
                yield (*container.path, "args", i), text


def downloaded_by(container: Container, pod: Pod) -> Iterator[Fault]:
    """A model that a server takes from a hub by its name."""
    server = Server(container=container, pod=pod)
    names = server.values(*MODELS)
    name = names[-1].strip("\"'") if names and server.is_known else "/"
    is_name = name.count("/") == 1 and not name.startswith(("/", ".", "$")) and SEPARATOR not in name
    if is_name and not is_commit((server.values("--revision") or [""])[-1].strip("\"'")):
        message = f"{container.name} downloads model {name} of no fixed revision"
        hint = "add --revision with a commit, or download it by spec.predictor.model.storageUri"
        yield Fault(MODEL_REVISION, server.place(*MODELS), message, help=hint)
