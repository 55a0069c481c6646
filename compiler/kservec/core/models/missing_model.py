"""Servers that nobody gives a model: what there is to say of a predictor that names none.

Decides from the arguments of runtime and spec whether the server needs a model where KServe brings it. Must not know
where models can lie. KServe takes nearly every such predictor for a server of trained models: `serving/predictor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.intents import PullerIntent, TrainedModelIntent
from kservec.core.names import KSERVE_CONTAINER, MODEL_PATH
from kservec.core.pods.containers import find
from kservec.core.serving.arguments import options
from kservec.core.serving.runtime_defaults import server_type
from kservec.core.unit import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.catalog import Runtime
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Json
    from kservec.core.unit import Component, Unit

NO_MODEL = Code(
    "storage/no-model-named",
    Severity.WARNING,
    "a server without a model",
    "The predictor has no storageUri, storage or storageUris, and its server is told to look for a model at the place "
    "where those would bring it. KServe starts it all the same, as a server that is handed models by TrainedModels; "
    "those have to be compiled in the same run. Servers that are told which model to fetch by themselves, or to wait "
    "for models, are not meant.",
)
FETCHING = ("--model_id", "--model-id", "--model")
NAMING = (*FETCHING, "--model_dir", "--model-dir")
"""Options by which a server is told of a model elsewhere, if they do not name the usual place, and to fetch it."""
WAITING = "--model-control-mode"
"""With it, a server loads models when it is asked to."""
BY_ITSELF = "huggingfaceserver"
"""The kind of server that looks at the usual place without being told so."""
VARIABLE = "MODEL_ID"
PROGRAM = frozenset({"image", "command"})
"""Fields of a model by which its container runs another program, which may have a model of its own."""


def missing_model(unit: Unit, component: Component) -> Iterator[Diagnostic]:
    """The warning about a predictor by a runtime that has no model to bring in, if its server cannot do without."""
    runtime, container = component.runtime, find(component.pod.value["containers"], KSERVE_CONTAINER)
    if runtime is None or container is None or any(isinstance(i, TrainedModelIntent) for i in unit.intents):
        return
    if not needs_model(container, runtime) or has_own(component, container):
        return
    told = options(container.get("args") or ())
    where = next((name for name, (value, _) in told.items() if value.startswith(MODEL_PATH)), "")
    by = f"{where} has its server look" if where else "its server looks"
    remedy = "add storageUri"
    if not where or where in FETCHING:
        remedy += f", or name the model in args: {where or FETCHING[0]}=OWNER/MODEL"
    elif component.peek(PullerIntent):
        remedy += ", or compile the TrainedModels of this service in the same run"
    message = f"the predictor of {unit.ref} names no model: {by} for one in {MODEL_PATH}, and nothing is brought there"
    yield finding(unit, NO_MODEL, message, component.implementation, remedy)


def needs_model(container: Json, runtime: Runtime) -> bool:
    """Whether a server can only start with a model at the usual place, as far as its arguments tell."""
    told = options(container.get("args") or ())
    if WAITING in told or any(name in told and not told[name][0].startswith(MODEL_PATH) for name in NAMING):
        return False
    looks = any(value.startswith(MODEL_PATH) for value, _ in told.values())
    return looks or server_type(runtime, empty_counts=False) == BY_ITSELF


def has_own(component: Component, container: Json) -> bool:
    """Whether the user brings the model in another way: a program, a mount at the usual place, or a variable."""
    model = getattr(component.extension, "model", None)
    if model is not None and not PROGRAM.isdisjoint(model.rest):
        return True
    paths = [f"{mount['mountPath'].rstrip('/')}/" for mount in container.get("volumeMounts") or ()]
    usual = f"{MODEL_PATH}/"
    return any(path.startswith(usual) or usual.startswith(path) for path in paths) or any(
        VARIABLE in entry["name"] for entry in container.get("env") or ()
    )
