"""Names of services: one finding for one name, and whoever follows what it says has a name that can be used."""

from __future__ import annotations

import re

import pytest

from kservec import compile_text
from kservec.api import Target

SERVICE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: NAME, namespace: NAMESPACE, annotations: {serving.kserve.io/deploymentMode: MODE}}
spec:
  predictor:
    minReplicas: 1
    model: {modelFormat: {name: sklearn}, storageUri: s3://models/iris}
"""
TRANSFORMER = "  transformer: {containers: [{name: kserve-container, image: example.com/t:1}]}\n"
GRAPH = """\
apiVersion: serving.kserve.io/v1alpha1
kind: InferenceGraph
metadata: {name: NAME, namespace: NAMESPACE}
spec: {nodes: {root: {routerType: Sequence, steps: [{serviceUrl: "http://x.example.com"}]}}}
"""
LLM = """\
apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
metadata: {name: NAME, namespace: NAMESPACE}
spec: {model: {uri: "hf://a/b"}, router: {route: {}}}
"""
TRAINED = """\
apiVersion: serving.kserve.io/v1alpha1
kind: TrainedModel
metadata: {name: NAME, namespace: NAMESPACE}
spec: {inferenceService: iris, model: {framework: sklearn, storageUri: "s3://a/b", memory: 1Gi}}
"""
ABOUT_NAMES = (
    *("metadata/", "name/", "output/long", "output/refused"),
    *("exposure/invalid-domain", "llm/name", "trainedmodel/name"),
)
LONG = {
    "a predictor": (SERVICE.replace("MODE", "Standard"), False, 48),
    "a transformer": (SERVICE.replace("MODE", "Standard") + TRANSFORMER, False, 46),
    "Knative": (SERVICE.replace("MODE", "Knative"), False, 53),
    "Knative with a transformer": (SERVICE.replace("MODE", "Knative") + TRANSFORMER, False, 51),
    "Knative, named revisions": (SERVICE.replace("MODE", "Knative"), True, 42),
    "a graph": (GRAPH, False, 63),
}


def told(text: str, name: str, namespace: str = "ml", *, named: bool = False) -> list[str]:
    """What is said to be done about a name, where something is wrong with it."""
    written = text.replace("NAMESPACE", namespace).replace("NAME", f'"{name}"')
    found = compile_text(written, target=Target(names_revisions=named)).diagnostics
    return [d.help for d in found if d.is_error and d.code.slug.startswith(ABOUT_NAMES)]


def said(helps: list[str], *, named: bool) -> int:
    """How many characters a name is said to have at most."""
    (text,) = helps
    most = re.search(r"a name of (\d+) characters or less", text)
    less = re.search(r"\((\d+) less where revisions are named", text) if named else None
    assert most is not None, text
    return int(most[1]) - (int(less[1]) if less else 0)


@pytest.mark.parametrize("what", LONG)
@pytest.mark.parametrize("more", [1, 5, 30])
@pytest.mark.parametrize("namespace", ["ml", "a-namespace-of-thirty-characters"])
def test_a_name_that_is_long(what: str, more: int, namespace: str) -> None:
    """Labels, Services, revisions and hosts are made of it; what is said fits all of them."""
    text, named, room = LONG[what]
    helps = told(text, "a" * (room + more), namespace, named=named)
    most = said(helps, named=named)
    assert most <= room
    assert most == room or namespace != "ml"
    assert told(text, "a" * most, namespace, named=named) == []
    assert told(text, "a" * (most + 1), namespace, named=named)


ODD = ["Iris", "1ris", "iris.v1", "iris_v1", "-iris", "iris-", "1A." + "b" * 70, "iris v1", "a" * 254]


@pytest.mark.parametrize("text", [SERVICE.replace("MODE", "Standard"), GRAPH, LLM], ids=["service", "graph", "llm"])
@pytest.mark.parametrize("name", ODD)
def test_an_odd_name(text: str, name: str) -> None:
    """Whoever finds it says all that holds for names of the kind, once."""
    (allowed,) = told(text, name)
    assert "allowed: lower-case letters, digits and dashes, a letter first, no dash last" in allowed
    assert ("so short that" in allowed) == (len(name) > 40)
    assert "dots" not in allowed


@pytest.mark.parametrize("name", ["Iris", "iris.v1", "iris_v1", "-iris"])
def test_an_odd_name_of_a_trained_model(name: str) -> None:
    """It may begin with a digit, and have no dots."""
    assert told(TRAINED, name) == ["allowed: lower-case letters, digits and dashes, a letter or digit at both ends"]
    assert told(TRAINED, "1-iris") == []


@pytest.mark.parametrize(
    ("labels", "allowed"),
    [
        ("team: a b", "at most 63 letters, digits, dashes, underscores and dots"),
        (f"team: {'a' * 70}", "shorten it by 7"),
        ("no key: x", "a key is a name of at most 63 characters"),
    ],
    ids=["a value", "a long value", "a key"],
)
def test_a_label_of_a_component_is_told_of_once(labels: str, allowed: str) -> None:
    """It goes onto several objects, each of which an API server would refuse."""
    (found,) = told(SERVICE.replace("MODE", "Standard") + f"    labels: {{{labels}}}\n", "iris")
    assert allowed in found
