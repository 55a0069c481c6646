"""Environments for the tests of topologies: documents in, what is deployed out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests import libyaml

from kservec.api import Target, front_of
from kservec.compilation import steps_of
from kservec.core.diagnostics import ObjectRef, has_errors
from kservec.io.reading import File, read_files
from kservec.topology.inventory import Item, inventory_of, items_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from kservec.topology.inventory import Inventory

ROOT = Path(__file__).parents[2]
PLATFORM = ROOT / "examples" / "platform"
LARGEST = 1 << 20


class Deployed(NamedTuple):
    """What is deployed, and the users' objects that it is made of."""

    inventory: Inventory
    refs: tuple[ObjectRef, ...]

    def ref(self, name: str) -> ObjectRef:
        """The user's object of a name."""
        return next(ref for ref in self.refs if ref.name == name)


def deployed(files: Sequence[File], target: Target, *more: Mapping[str, Any]) -> Deployed:
    """What files lead to on a cluster, and objects of a user's own beside it."""
    front, compilation = front_of(files, target=target)
    assert compilation.ok, [d.message for d in compilation.diagnostics]
    steps = list(steps_of(front))
    assert not has_errors(d for step in steps for d in step.diagnostics), [s.diagnostics for s in steps]
    items = [*(item for step in steps for item in items_of(step.unit)), *map(own_item, more)]
    return Deployed(
        inventory_of(items, {step.unit.ref: step.unit.source for step in steps}), tuple(s.unit.ref for s in steps)
    )


def own_item(value: Mapping[str, Any]) -> Item:
    """An object that a user deploys as it is."""
    metadata = value["metadata"]
    ref = ObjectRef(value["apiVersion"], value["kind"], metadata.get("namespace", ""), metadata["name"])
    return Item(ref, value, ref)


def of_golden(case: str) -> Deployed:
    """What a golden case leads to."""
    folder = ROOT / "golden" / case
    platform = folder / "platform"
    described = read_files([str(platform)], LARGEST) if platform.is_dir() else ()
    return deployed(relative(folder / "input"), Target(platform=described))


def of_examples(*names: str) -> Deployed:
    """What some of the example services lead to, on the platform of the examples."""
    files = [file for name in names for file in relative(ROOT / "examples" / "services" / f"{name}.yaml")]
    return deployed(files, example_target())


def example_target(*absent: str) -> Target:
    """The cluster of the examples, without some kinds."""
    return Target(platform=read_files([str(PLATFORM)], LARGEST), absent=absent)


def of_documents(*documents: Mapping[str, Any], more: Sequence[Mapping[str, Any]] = ()) -> Deployed:
    """What documents lead to on the cluster of the examples, and objects of a user's own beside it."""
    return deployed([File("input.yaml", libyaml.dump_all(documents).encode())], example_target(), *more)


def relative(path: Path) -> list[File]:
    """Files by names that do not depend on where the repository is."""
    return [
        file._replace(name=Path(file.name).relative_to(ROOT).as_posix()) for file in read_files([str(path)], LARGEST)
    ]


def service(name: str, namespace: str = "ml", **spec: Any) -> dict[str, Any]:
    """An InferenceService with a model of scikit-learn."""
    model = {"modelFormat": {"name": "sklearn"}, "storageUri": f"s3://models/{name}"}
    predictor = {"model": model, "minReplicas": 2, "maxReplicas": 6, **spec}
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {"serving.kserve.io/deploymentMode": "Standard"},
        },
        "spec": {"predictor": predictor},
    }


def graph(name: str, namespace: str, *urls: str) -> dict[str, Any]:
    """An InferenceGraph that calls addresses one after the other."""
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "InferenceGraph",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {"serving.kserve.io/deploymentMode": "Standard"},
        },
        "spec": {"nodes": {"root": {"routerType": "Sequence", "steps": [{"serviceUrl": url} for url in urls]}}},
    }


def names(found: Iterable[Any]) -> list[str]:
    """The first line of each node."""
    return [node.lines[0] for node in found]
