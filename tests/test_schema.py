"""Structure: schemas as shipped, what is found in documents and objects, where, and which defaults are filled in."""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from tests import libyaml

from kservec.core.diagnostics import Diagnostic, Span, has_errors
from kservec.core.schemas.schema import Schemas
from kservec.core.schemas.structure import without_nulls
from kservec.core.text.document import Document
from kservec.core.text.source import parse

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ROOT / "schemas"
SHARED = ROOT.parent / "shared"
CONFORMANCE = Path(os.environ.get("KSERVEC_CONFORMANCE", SHARED / "conformance"))

SCHEMAS = Schemas(read=lambda name: (SHIPPED / name).read_bytes())
ALL_KINDS = sorted(SCHEMAS.kinds())

ISVC = libyaml.load(
    """
    apiVersion: serving.kserve.io/v1beta1
    kind: InferenceService
    metadata:
      name: llama
      namespace: ml
      labels: {app: llama, team: search}
      annotations: {serving.kserve.io/deploymentMode: Standard}
    spec:
      predictor:
        minReplicas: 1
        maxReplicas: 4
        scaleTarget: 80
        scaleMetric: cpu
        nodeSelector: {pool: gpu}
        tolerations: [{key: nvidia.com/gpu, operator: Exists}]
        model:
          modelFormat: {name: huggingface}
          storageUri: s3://models/llama
          args: [--max-model-len=4096]
          ports: [{containerPort: 8080}]
          env:
            - name: HF_TOKEN
              valueFrom: {secretKeyRef: {name: hf, key: token}}
          resources:
            requests: {cpu: "4", memory: 16Gi}
    """
)
DEPLOYMENT = libyaml.load(
    """
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 2
      selector: {matchLabels: {app: web}}
      strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
            - name: main
              image: example.com/web
              ports: [{containerPort: 8080, protocol: TCP}]
              resources: {limits: {cpu: 500m, memory: 1Gi}}
              readinessProbe: {httpGet: {port: http}, periodSeconds: 5}
          volumes: [{name: cache, emptyDir: {sizeLimit: 1Gi}}]
    """
)
ROUTE = libyaml.load(
    """
    apiVersion: gateway.networking.k8s.io/v1
    kind: HTTPRoute
    metadata: {name: web}
    spec:
      parentRefs: [{name: edge, namespace: infra}]
      hostnames: [web.example.com]
      rules:
        - matches: [{path: {type: PathPrefix, value: /v1}, headers: [{name: x-model, value: llama}]}]
          backendRefs: [{name: web, port: 80, weight: 90}, {name: web-canary, port: 80, weight: 10}]
          timeouts: {request: 60s}
    """
)
VIRTUAL_SERVICE = libyaml.load(
    """
    apiVersion: networking.istio.io/v1beta1
    kind: VirtualService
    metadata: {name: web}
    spec:
      hosts: [web.example.com]
      http:
        - match: [{uri: {prefix: /v1}}]
          route: [{destination: {host: web, port: {number: 80}}, weight: 100}]
          redirect: {port: 443}
    """
)


class Recorder(Document):
    """A document whose spans name the path and whether its key or its value was asked for."""

    def span(self, path: Any = ()) -> Span:
        """The path of a value, as the name of a file."""
        return Span(".".join(map(str, path)) or "-")

    def key_span(self, path: Any) -> Span:
        """The path of a key, as the name of a file."""
        return Span(".".join(map(str, path)) + " (key)")


def check(value: Any) -> tuple[Diagnostic, ...]:
    """The findings about one document."""
    return SCHEMAS.check(Recorder("f.yaml", value))


def changed(value: Any, path: str, to: Any) -> Any:
    """A copy of the value with another one at the dotted path; `...` removes what is there."""
    result = copy.deepcopy(value)
    *parents, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place = result
    for step in parents:
        place = place[step]
    if to is ...:
        del place[last]
    else:
        place[last] = to
    return result


def lines(found: tuple[Diagnostic, ...]) -> list[str]:
    """Each finding as one line: slug, place, message, help."""
    return [f"{d.code.slug} @{d.span.file if d.span else ''}: {d.message} | {d.help}" for d in found]


# --- the files ----------------------------------------------------------------------------------------------------


def test_the_shipped_schemas_are_what_the_script_makes() -> None:
    """Nobody edited schemas/ by hand, and the script gives the same bytes everywhere."""
    source = SHARED / "schemas"
    if not source.is_dir():
        pytest.skip("the source schemas are not here")
    spec = importlib.util.spec_from_file_location("make_schemas", ROOT / "scripts" / "make_schemas.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up while it is being executed.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "make_schemas", script)
        spec.loader.exec_module(script)
        made = script.make(source)
    files = [path for path in SHIPPED.rglob("*.json") if not path.name.startswith(script.OWN)]
    shipped = {path.relative_to(SHIPPED).as_posix(): path.read_bytes() for path in files}
    assert sorted(made) == sorted(shipped)
    assert [name for name in sorted(made) if made[name] != shipped[name]] == []


@pytest.mark.parametrize("key", ALL_KINDS, ids=lambda key: f"{key[0]} {key[1]}")
def test_each_schema_stands_alone(key: tuple[str, str]) -> None:
    """What `kservec schema KIND` prints is valid JSON Schema 2020-12 and refers to nothing outside itself."""
    document = SCHEMAS.document(*key)
    jsonschema_rs.meta.validate(document)
    references = set(re.findall(r'"\$ref": "([^"]*)"', json.dumps(document)))
    assert references <= {f"#/$defs/{name}" for name in document["$defs"]}
    assert len(references) == len(document["$defs"])


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*/*.json")), ids=lambda path: path.name)
def test_references_in_the_files_lead_somewhere(path: Path) -> None:
    """An editor that follows the references of a file finds each of them, in the file or in types.json beside it."""
    text = path.read_text("utf-8")
    references = set(re.findall(r'"\$ref":"([^"#]*)#/\$defs/([^"]*)"', text))
    files = {file: path.parent / (file or path.name) for file, _ in references}
    known = {file: json.loads(found.read_text("utf-8"))["$defs"] for file, found in files.items()}
    assert [(file, name) for file, name in references if name not in known[file]] == []


def subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and everything below it that says something about instances."""
    yield schema
    for child in schema.get("properties", {}).values():
        yield from subschemas(child)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from subschemas(schema[key])


@pytest.mark.parametrize("key", ALL_KINDS, ids=lambda key: f"{key[0]} {key[1]}")
def test_what_the_code_relies_on(key: tuple[str, str]) -> None:
    """Objects are closed or say that they are open; no default is nullable, required, or beside a reference."""
    document = SCHEMAS.document(*key)
    for top in (document, *document["$defs"].values()):
        for schema in subschemas(top):
            assert "$ref" not in schema or set(schema) == {"$ref"}
            if "properties" in schema:
                assert "additionalProperties" in schema or schema["x-kubernetes-preserve-unknown-fields"] is True
                assert set(schema.get("required", ())) <= set(schema["properties"])
                for name in schema.get("required", ()):
                    assert "default" not in schema["properties"][name]
            assert not ("default" in schema and "null" in schema.get("type", ()))


def test_files_are_read_when_they_are_needed_and_once() -> None:
    """A run that sees InferenceServices alone reads three files, however many documents it has."""
    read: list[str] = []

    def reader(name: str) -> bytes:
        read.append(name)
        return (SHIPPED / name).read_bytes()

    schemas = Schemas(read=reader)
    for _ in range(3):
        assert schemas.check(Recorder("f.yaml", ISVC)) == ()
    assert read == ["index.json", "input/types.json", "input/serving.kserve.io_v1beta1_inferenceservice.json"]


# --- findings -----------------------------------------------------------------------------------------------------

P = "spec.predictor"
M = "spec.predictor.model"

FINDINGS: list[tuple[str, str, Any, list[str]]] = [
    (
        "a misspelt field",
        f"{M}.storageURI",
        "s3://x",
        [
            f"schema/unknown-field @{M}.storageURI (key): unknown field storageURI in {M} "
            "| storageUri is there as well: take one of the two out"
        ],
    ),
    (
        "a field that belongs one level up",
        f"{M}.nodeSelector",
        {},
        [
            f"schema/unknown-field @{M}.nodeSelector (key): unknown field nodeSelector in {M}"
            f" | nodeSelector is a field of {P}"
        ],
    ),
    (
        "a field that belongs one level down",
        f"{P}.storageUri",
        "s3://x",
        [f"schema/unknown-field @{P}.storageUri (key): unknown field storageUri in {P} | storageUri is a field of {M}"],
    ),
    (
        "an unknown field among few",
        "spec.traffic",
        [],
        [
            "schema/unknown-field @spec.traffic (key): unknown field traffic in spec"
            " | spec has: canary, explainer, predictor, transformer"
        ],
    ),
    (
        "a level too many",
        f"{M}.resources.spec",
        {"limits": {}},
        [
            f"schema/unknown-field @{M}.resources.spec (key): unknown field spec in {M}.resources"
            f" | write what it holds directly into {M}.resources, without spec"
        ],
    ),
    (
        "a field at the top that belongs below",
        "predictor",
        {},
        ["schema/unknown-field @predictor (key): unknown field predictor | predictor is a field of spec"],
    ),
    (
        "a quoted number",
        f"{P}.minReplicas",
        "3",
        [
            f'schema/type @{P}.minReplicas: {P}.minReplicas must be a whole number, not the string "3"'
            " | write 3, without quotes"
        ],
    ),
    (
        "a quoted number of thousands of digits",
        f"{P}.minReplicas",
        "9" * 5000,
        [
            f'schema/type @{P}.minReplicas: {P}.minReplicas must be a whole number, not the string "{"9" * 57}..."'
            " | write a number that fits in 64 bits"
        ],
    ),
    (
        "a fraction",
        f"{P}.minReplicas",
        1.5,
        [f"schema/type @{P}.minReplicas: {P}.minReplicas must be a whole number, not the number 1.5 | "],
    ),
    (
        "a fraction of a quantity",
        f"{M}.resources.requests.cpu",
        0.1,
        [
            f"schema/type @{M}.resources.requests.cpu: {M}.resources.requests.cpu must be a whole number or a string,"
            ' not the number 0.1 | write "0.1" in quotes, or 100m'
        ],
    ),
    (
        "a boolean for a string",
        f"{M}.env.0",
        {"name": "DEBUG", "value": True},
        [
            f"schema/type @{M}.env.0.value: {M}.env[0].value must be a string, not the boolean true"
            ' | put it in quotes: "true" (unquoted yes, no, on and off are booleans, too)'
        ],
    ),
    (
        "a number for a string",
        f"{M}.args",
        ["--port", 8080],
        [f'schema/type @{M}.args.1: {M}.args[1] must be a string, not the number 8080 | put it in quotes: "8080"'],
    ),
    (
        "a string for a boolean",
        f"{P}.hostNetwork",
        "true",
        [
            f'schema/type @{P}.hostNetwork: {P}.hostNetwork must be true or false, not the string "true"'
            " | write true, without quotes"
        ],
    ),
    (
        "a mapping for a list",
        f"{M}.ports",
        {"containerPort": 8080},
        [
            f"schema/type @{M}.ports: {M}.ports must be a list, not a mapping"
            " | write it as a list item, with a dash in front"
        ],
    ),
    (
        "text for a list",
        f"{M}.args",
        "--x",
        [f'schema/type @{M}.args: {M}.args must be a list, not the string "--x" | write it as a list item: - --x'],
    ),
    (
        "a list for a mapping",
        f"{M}.modelFormat",
        [{"name": "onnx"}],
        [
            f"schema/type @{M}.modelFormat: {M}.modelFormat must be a mapping, not a list"
            " | remove the dash: this is one mapping, not a list"
        ],
    ),
    (
        "text for a mapping",
        f"{M}.modelFormat",
        "name: onnx\nversion: 1\n",
        [
            f'schema/type @{M}.modelFormat: {M}.modelFormat must be a mapping, not the string "name: onnx..."'
            " | this is text, because of the | or > before it: write the mapping itself"
        ],
    ),
    (
        "a field without a value",
        M,
        None,
        [f"schema/type @{M}: {M} has no value, where a mapping is due | give it a value or remove the field"],
    ),
    (
        "a required field missing",
        f"{M}.modelFormat.name",
        ...,
        [f"schema/required @{M}.modelFormat (key): {M}.modelFormat.name is missing | "],
    ),
    (
        "a required field misspelt is one finding",
        f"{M}.modelFormat",
        {"nmae": "onnx"},
        [
            f"schema/unknown-field @{M}.modelFormat.nmae (key): unknown field nmae in {M}.modelFormat"
            " | did you mean name?"
        ],
    ),
    (
        "an unknown value",
        f"{P}.scaleMetric",
        "CPU",
        [
            f'schema/enum @{P}.scaleMetric: {P}.scaleMetric cannot be "CPU": it takes cpu, memory, concurrency, rps'
            " | did you mean cpu?"
        ],
    ),
    (
        "a wrong type is not a wrong value as well",
        f"{P}.scaleMetric",
        3,
        [f'schema/type @{P}.scaleMetric: {P}.scaleMetric must be a string, not the number 3 | put it in quotes: "3"'],
    ),
    (
        "no quantity",
        f"{M}.resources.requests.cpu",
        "lots",
        [
            f'schema/pattern @{M}.resources.requests.cpu: {M}.resources.requests.cpu is no quantity: "lots"'
            " | a number and an optional suffix: 500m, 2, 1.5Gi"
        ],
    ),
    (
        "an empty quantity",
        f"{M}.resources.requests.cpu",
        "",
        [
            f"schema/pattern @{M}.resources.requests.cpu: {M}.resources.requests.cpu is empty, where a quantity is due"
            " | a number and an optional suffix: 500m, 2, 1.5Gi"
        ],
    ),
    (
        "the value of a variable that is named like a credential",
        f"{M}.env",
        [{"name": "DB_PASSWORD", "value": 999}],
        [f"schema/type @{M}.env.0.value: {M}.env[0].value must be a string, not the number (not shown) | "],
    ),
    (
        "a name in the wrong form",
        f"{P}.name",
        "Blue",
        [
            f'schema/pattern @{P}.name: {P}.name has the wrong form: "Blue"'
            " | allowed: lower-case letters, digits and dashes; a letter first, no dash at the end"
        ],
    ),
    (
        "a number beyond 32 bits",
        f"{P}.maxReplicas",
        2**31,
        [f"schema/range @{P}.maxReplicas: {P}.maxReplicas must be at most 2147483647 | "],
    ),
    (
        "a number beyond 64 bits",
        f"{P}.timeout",
        2**70,
        [f"schema/range @{P}.timeout: {P}.timeout must be at most 9223372036854775807 | "],
    ),
    (
        "an empty list",
        f"{P}.storageUris",
        [],
        [f"schema/range @{P}.storageUris: {P}.storageUris needs 1 or more items | "],
    ),
    (
        "a variable that is set twice",
        f"{M}.env",
        [{"name": "A", "value": "1"}, {"name": "B"}, {"name": "A", "value": "2"}],
        [f"schema/duplicate @{M}.env.2: {M}.env has two items with name A | keep one of the two"],
    ),
    (
        "a port that is given twice by way of its default",
        f"{M}.ports",
        [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}, {"containerPort": 80, "protocol": "UDP"}],
        [
            f"schema/duplicate @{M}.ports.1: {M}.ports has two items with containerPort 80, protocol TCP"
            " | keep one of the two"
        ],
    ),
    (
        "an unquoted annotation",
        "metadata.annotations",
        {"example.com/x": True},
        [
            'schema/type @metadata.annotations.example.com/x: metadata.annotations["example.com/x"] must be a string,'
            ' not the boolean true | put it in quotes: "true" (unquoted yes, no, on and off are booleans, too)'
        ],
    ),
    (
        "a key that reads as a number",
        f"{P}.nodeSelector",
        {"007": 7},
        [
            f'schema/type @{P}.nodeSelector.007: {P}.nodeSelector["007"] must be a string, not the number 7'
            ' | put it in quotes: "7"'
        ],
    ),
    (
        "a malformed time",
        "metadata.creationTimestamp",
        "yesterday",
        [
            "schema/pattern @metadata.creationTimestamp: "
            'metadata.creationTimestamp is no valid date-time: "yesterday" | '
        ],
    ),
    (
        "an item twice in a set",
        "metadata.finalizers",
        ["example.com/a", "example.com/a"],
        ["schema/duplicate @metadata.finalizers: metadata.finalizers holds an item twice | remove one of the two"],
    ),
    (
        "a text that is too long",
        f"{P}.storageUris",
        [{"uri": "s3://a", "mountPath": "/" + "a" * 300}],
        [
            f"schema/range @{P}.storageUris.0.mountPath: "
            f"{P}.storageUris[0].mountPath takes no more than 255 characters | "
        ],
    ),
    ("a field of metadata without a value", "metadata.labels", None, []),
    ("a default for a missing required field", f"{P}.imagePullSecrets", [{}], []),
    ("a null where a default is due", f"{M}.ports.0.protocol", None, []),
    ("whatever status holds", "status", {"conditions": None, "x": 1}, []),
    ("a whole float", f"{P}.minReplicas", 2.0, []),
    ("a whole number as quantity", f"{M}.resources.requests.cpu", 4, []),
    (
        "another version",
        "apiVersion",
        "serving.kserve.io/v1alpha1",
        [
            "schema/unknown-kind @apiVersion: there is no InferenceService in serving.kserve.io/v1alpha1"
            " | InferenceService is in serving.kserve.io/v1beta1"
        ],
    ),
    (
        "a misspelt kind",
        "kind",
        "InferenceServce",
        [
            "schema/unknown-kind @kind: unknown kind InferenceServce in serving.kserve.io/v1beta1"
            " | did you mean InferenceService?"
        ],
    ),
    ("no kind", "kind", ..., ["schema/unknown-kind @-: kind is missing | add kind"]),
]


@pytest.mark.parametrize(("path", "to", "expected"), [row[1:] for row in FINDINGS], ids=[row[0] for row in FINDINGS])
def test_findings(path: str, to: Any, expected: list[str]) -> None:
    """One change to a valid InferenceService gives exactly the findings listed, in these words and places."""
    assert lines(check(changed(ISVC, path, to))) == expected


def test_places_in_the_text() -> None:
    """Findings of a document that was read from text point at the key or the value, by line and column."""
    text = b"""\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: llama
spec:
  predictor:
    minReplicas: "3"
    model:
      modelFormat: {}
      storageURI: s3://models/llama
      ports:
        - containerPort: 8080
        - containerPort: http
      env:
        - {name: A, value: "1"}
        - {name: A, value: "2"}
"""
    (document,), _ = parse(text, "isvc.yaml")
    found = SCHEMAS.check(document)
    assert [(d.code.slug, *d.span[1:4]) for d in found if d.span] == [
        ("schema/type", 7, 18, 7),
        ("schema/required", 9, 7, 9),
        ("schema/unknown-field", 10, 7, 10),
        ("schema/type", 13, 26, 13),
        ("schema/duplicate", 16, 11, 16),
    ]
    assert [span.line for d in found for span, _ in d.related] == [15]


def test_every_finding_in_one_go() -> None:
    """Findings do not hide each other, and come in the order of the text."""
    value = changed(ISVC, f"{P}.minReplicas", "3")
    value = changed(value, f"{M}.modelFormat.name", ...)
    value = changed(value, f"{M}.nodeSelector", {})
    value = changed(value, "metadata.name", "Llama")
    found = check(value)
    assert sorted(d.code.slug for d in found) == [
        "metadata/invalid-name",
        "schema/required",
        "schema/type",
        "schema/unknown-field",
    ]
    assert list(found) == sorted(found, key=lambda d: d.sort_key)


def test_related_place_of_a_repeated_key() -> None:
    """A repeated key points at the first one, too."""
    found = check(changed(ISVC, f"{M}.env", [{"name": "A"}, {"name": "A"}]))
    assert [(span.file, text) for span, text in found[0].related] == [(f"{M}.env.0", "the first is here")]


@pytest.mark.parametrize("value", [None, "text", 3, [], [{"kind": "InferenceService"}]])
def test_documents_that_are_no_mapping(value: Any) -> None:
    """A document that is no mapping is one finding, not a crash."""
    assert [d.code.slug for d in check(value)] == ["schema/unknown-kind"]


@pytest.mark.parametrize("to", [{"password": 12345}, {"password": ["12345"]}, {"0077": 12345}])
def test_values_of_secrets_are_never_shown(to: Any) -> None:
    """What is wrong with a Secret is said without quoting what it holds."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": to}
    found = check(secret)
    assert [d.code.slug for d in found] == ["schema/type"]
    assert "12345" not in found[0].message + found[0].help + found[0].label


@pytest.mark.parametrize("key", ALL_KINDS, ids=lambda key: f"{key[0]} {key[1]}")
@pytest.mark.parametrize("spec", [3, "x", []], ids=["number", "text", "list"])
def test_nonsense_for_a_spec(key: tuple[str, str], spec: Any) -> None:
    """What is no mapping is refused as `spec` of every kind, and any `spec` by the kinds that have none."""
    found = check({"apiVersion": key[0], "kind": key[1], "metadata": {"name": "x"}, "spec": spec})
    has_spec = "spec" in SCHEMAS.document(*key)["properties"]
    expected = ("schema/type", "spec") if has_spec else ("schema/unknown-field", "spec (key)")
    assert expected in [(d.code.slug, d.span.file) for d in found if d.span]


# --- defaults -----------------------------------------------------------------------------------------------------


def test_defaults_of_an_inferenceservice() -> None:
    """Defaults appear where their parent exists and nowhere else; what needs none is shared, not copied."""
    filled = SCHEMAS.with_defaults(changed(ISVC, f"{P}.storageUris", [{"uri": "s3://a"}]), *ALL_KINDS_OF["isvc"])
    predictor = filled["spec"]["predictor"]
    assert predictor["storageUris"] == [{"uri": "s3://a", "mountPath": "/mnt/models"}]
    assert predictor["model"]["ports"] == [{"containerPort": 8080, "protocol": "TCP"}]
    assert "transformer" not in filled["spec"]
    before = copy.deepcopy(ISVC)
    again = SCHEMAS.with_defaults(ISVC, *ALL_KINDS_OF["isvc"])
    assert before == ISVC
    assert again["metadata"] is ISVC["metadata"]
    assert SCHEMAS.with_defaults(again, *ALL_KINDS_OF["isvc"]) is again


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, {"rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/"}}]}]}),
        ({"rules": None}, {"rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/"}}]}]}),
        ({"rules": []}, {"rules": []}),
        ({"rules": [{}]}, {"rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/"}}]}]}),
        (
            {"rules": [{"matches": [{"headers": [{"name": "a", "value": "b"}]}], "backendRefs": [{"name": "x"}]}]},
            {
                "rules": [
                    {
                        "matches": [
                            {
                                "headers": [{"name": "a", "value": "b", "type": "Exact"}],
                                "path": {"type": "PathPrefix", "value": "/"},
                            }
                        ],
                        "backendRefs": [{"name": "x", "group": "", "kind": "Service", "weight": 1}],
                    }
                ]
            },
        ),
    ],
    ids=["no rules", "null rules", "empty rules", "an empty rule", "a match on headers"],
)
def test_defaults_of_a_route(spec: Any, expected: Any) -> None:
    """An HTTPRoute gets the defaults that a cluster would write into it, so that a sync shows no difference."""
    assert SCHEMAS.with_defaults({"spec": spec}, "gateway.networking.k8s.io/v1", "HTTPRoute") == {"spec": expected}


@pytest.mark.parametrize("key", ALL_KINDS, ids=lambda key: f"{key[0]} {key[1]}")
def test_defaults_leave_nonsense_alone(key: tuple[str, str]) -> None:
    """Filling in defaults never fails on values of the wrong type, and a value without fields stays as it is."""
    for value in (None, 3, "x", [], [None, 3]):
        assert SCHEMAS.with_defaults(value, *key) == value
        SCHEMAS.with_defaults({"spec": value, "metadata": value, "template": value}, *key)


def test_defaults_that_are_written_out() -> None:
    """Custom resources get every default but replicas; of built-in kinds only ports get their protocol."""
    group = SCHEMAS.as_stored({"spec": {"leaderWorkerTemplate": {}}}, "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
    assert group["spec"]["startupPolicy"] == "LeaderCreated"
    assert group["spec"]["leaderWorkerTemplate"]["size"] == 1
    assert "replicas" not in group["spec"]
    pod = {"containers": [{"name": "a", "ports": [{"containerPort": 80}]}], "volumes": [{"rbd": {"image": "x"}}]}
    written = SCHEMAS.as_stored({"spec": {"template": {"spec": pod}}}, "apps/v1", "Deployment")
    assert written["spec"]["template"]["spec"] == {
        "containers": [{"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP"}]}],
        "volumes": [{"rbd": {"image": "x"}}],
    }
    unknown = {"spec": {"ports": [{}]}}
    assert SCHEMAS.as_stored(unknown, "example.com/v1", "Thing") is unknown


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("InferenceService", "InferenceService serving.kserve.io/v1beta1"),
        ("LLMInferenceService", "LLMInferenceService serving.kserve.io/v1alpha2"),
        ("serving.kserve.io/v1alpha1/LLMInferenceService", "LLMInferenceService serving.kserve.io/v1alpha1"),
        ("Service", "Service v1"),
        ("serving.knative.dev/v1/Service", "Service serving.knative.dev/v1"),
        ("v1/Service", "Service v1"),
        ("InferencePool", "InferencePool inference.networking.k8s.io/v1"),
        ("Inferenceservice", None),
        ("v9/Service", None),
        ("", None),
    ],
)
def test_schemas_by_name(name: str, title: str | None) -> None:
    """A kind is found by its name alone or with its version; of several the most likely one is meant."""
    found = SCHEMAS.bundled(name)
    assert (found["title"] if found else None) == title


def test_names_can_be_asked_for() -> None:
    """Each listed name is one that a schema is found by."""
    names = SCHEMAS.names()
    assert names == sorted(names)
    assert all(SCHEMAS.bundled(name) for name in names)


# --- emitted objects ----------------------------------------------------------------------------------------------

ALL_KINDS_OF = {
    "isvc": ("serving.kserve.io/v1beta1", "InferenceService"),
    "deployment": ("apps/v1", "Deployment"),
    "route": ("gateway.networking.k8s.io/v1", "HTTPRoute"),
    "virtualservice": ("networking.istio.io/v1beta1", "VirtualService"),
}
BASES = {"isvc": ISVC, "deployment": DEPLOYMENT, "route": ROUTE, "virtualservice": VIRTUAL_SERVICE}
C = "spec.template.spec.containers.0"

OUTPUTS: list[tuple[str, str, str, Any, list[str]]] = [
    ("as it should be", "deployment", "spec.replicas", 3, []),
    ("null in a built-in kind", "deployment", "spec.replicas", None, []),
    ("an empty text for a defaulted enum", "deployment", f"{C}.ports.0.protocol", "", []),
    ("a repeated variable in a built-in kind", "deployment", f"{C}.env", [{"name": "A"}, {"name": "A"}], []),
    ("a fraction of a quantity in a built-in kind", "deployment", f"{C}.resources.limits.cpu", 0.5, []),
    (
        "a wrong type",
        "deployment",
        "spec.replicas",
        "3",
        ['spec.replicas: spec.replicas must be a whole number, not the string "3"'],
    ),
    (
        "an unknown field",
        "deployment",
        f"{C}.imagePolicy",
        "Always",
        ["spec.template.spec.containers[0].imagePolicy: unknown field imagePolicy in spec.template.spec.containers[0]"],
    ),
    (
        "no image name for a null list item",
        "deployment",
        "spec.template.spec.containers",
        [None],
        ["spec.template.spec.containers[0]: spec.template.spec.containers[0] has no value, where a mapping is due"],
    ),
    (
        "a bad label",
        "deployment",
        "metadata.labels",
        {"a": "x y"},
        ['metadata.labels.a: metadata.labels.a cannot be "x y"'],
    ),
    (
        "null in a custom resource",
        "route",
        "spec.hostnames",
        None,
        ["spec.hostnames: spec.hostnames has no value, where a list is due"],
    ),
    ("null where a custom resource has a default", "route", "spec.rules.0.backendRefs.0.weight", None, []),
    (
        "a repeated key in a custom resource",
        "route",
        "spec.rules.0.matches.0.headers",
        [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}],
        ["spec.rules[0].matches[0].headers[1]: spec.rules[0].matches[0].headers has two items with name a"],
    ),
    (
        "fields that exclude each other",
        "virtualservice",
        "spec.http.0.redirect.derivePort",
        "FROM_REQUEST_PORT",
        ["spec.http[0].redirect: spec.http[0].redirect combines fields in a way that its schema does not allow"],
    ),
    ("null for a nullable field", "virtualservice", "spec.http.0.corsPolicy", {"allowCredentials": None}, []),
]


@pytest.mark.parametrize(("base", "path", "to", "expected"), [row[1:] for row in OUTPUTS], ids=[r[0] for r in OUTPUTS])
def test_output_errors(base: str, path: str, to: Any, expected: list[str]) -> None:
    """An emitted object is refused exactly where its API server would refuse its structure."""
    found = SCHEMAS.output_errors(changed(BASES[base], path, to), *ALL_KINDS_OF[base])
    shown = ["".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in place)[1:] + f": {m}" for place, m in found]
    assert shown == expected


def test_repeated_items_of_built_in_kinds() -> None:
    """What server-side apply would refuse in a Deployment can be asked for, with both places and the key."""
    value = changed(DEPLOYMENT, f"{C}.env", [{"name": "A"}, {"name": "B"}, {"name": "A"}])
    (repeat,) = SCHEMAS.repeated_items(value, *ALL_KINDS_OF["deployment"])
    place = ("spec", "template", "spec", "containers", 0, "env")
    assert repeat == ((*place, 2), (*place, 0), (("name", "A"),))


# --- against the reference validator ------------------------------------------------------------------------------

NONSENSE: list[Any] = [
    None,
    True,
    0,
    -1,
    3,
    2.5,
    "",
    "x",
    "3",
    [],
    {},
    [1],
    ["x"],
    {"x": 1},
    {"07": 1},
    2**40,
    "a" * 300,
]


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every path below a value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in steps:
        yield (*path, step)
        yield from places(child, (*path, step))


def mutated(value: Any, chance: random.Random) -> Any:
    """A copy with one to three things in its spec removed, added, renamed or replaced by nonsense."""
    result = copy.deepcopy(value)
    for _ in range(chance.randint(1, 3)):
        path = chance.choice(list(places(result["spec"])) or [()])
        if not path:
            break
        parent = result["spec"]
        for step in path[:-1]:
            parent = parent[step]
        action: Callable[[], Any] = chance.choice(
            [
                lambda parent=parent, step=path[-1]: parent.pop(step),
                lambda parent=parent, step=path[-1]: parent.__setitem__(step, chance.choice(NONSENSE)),
                lambda parent=parent, step=path[-1]: (
                    parent.__setitem__(f"{step}x", parent.pop(step)) if isinstance(parent, dict) else None
                ),
            ]
        )
        action()
    return result


def reference_places(validator: jsonschema.Draft202012Validator, value: Any) -> tuple[set[Any], set[Any]]:
    """Where the reference validator finds errors: (places of values and unknown fields, objects that lack a field)."""
    wrong, lacking = set(), set()
    for error in validator.iter_errors(value):
        path = tuple(error.absolute_path)
        if error.validator == "required":
            lacking.add(path)
        elif error.validator == "additionalProperties":
            wrong |= {(*path, name) for name in error.instance if name not in error.schema["properties"]}
        else:
            wrong.add(path)
    return wrong, lacking


@pytest.mark.parametrize("base", sorted(BASES))
def test_the_reference_validator_agrees(base: str) -> None:
    """On mutated objects, a slow validator finds errors in the same places, after defaults and built-in nulls."""
    key = ALL_KINDS_OF[base]
    document = SCHEMAS.document(*key)
    reference = jsonschema.Draft202012Validator(document, format_checker=jsonschema.FormatChecker())
    chance = random.Random(20)  # noqa: S311 - test data, not a secret
    verdicts = {True: 0, False: 0}
    for _ in range(250):
        value = mutated(BASES[base], chance)
        due = without_nulls(value) if document.get("x-kubernetes-nulls") == "absent" else value
        wrong, lacking = reference_places(reference, SCHEMAS.with_defaults(due, *key))
        ours = {path for path, _ in SCHEMAS.output_errors(value, *key)}
        assert wrong <= ours <= wrong | lacking, value
        assert bool(ours) == bool(wrong or lacking), value
        verdicts[bool(ours)] += 1
    assert min(verdicts.values()) > 10


# --- what people write, and what KServe made of it ----------------------------------------------------------------


def documents(path: Path) -> tuple[Document, ...]:
    """The documents of a file; none if it cannot be read."""
    found, findings = parse(path.read_bytes(), path.name)
    return () if has_errors(findings) else found


TOLERATED = re.compile(
    r"must be a whole number or a string, not the number"  # allowed in the corpus, refused by the API server
    r"|metadata\.(name|namespace) cannot be"  # placeholders
    r'|containers\[0\]\.name is missing|unknown field \.\.\.|unknown kind ResourceQuota|has no value|runtime-version"\]'
)


def test_published_manifests() -> None:
    """Manifests that people published pass, but for the few faults that they do have; none makes the check crash."""
    files = sorted((SHARED / "corpus").glob("*/*.yaml"))
    if not files:
        pytest.skip("the corpus is not here")
    surprises, quiet = [], []
    for path in files:
        found = [d for doc in documents(path) for d in SCHEMAS.check(doc)]
        if path.parent.name == "invalid":
            quiet += [path.name] if documents(path) and not found else []
        else:
            surprises += [(path.name, d.message) for d in found if not TOLERATED.search(d.message)]
    assert surprises == []
    # A model without a format has the right structure; KServe's webhook is what refuses it.
    assert quiet == ["Siryoos__kserve-vllm-mini__demo-llm.yaml"]


STRUCTURAL = re.compile(
    r"in body|Required value|Unsupported value|Duplicate value|metadata\.name|no such kind|Too long"
)
CHECKED_KINDS = ("InferenceService", "ServingRuntime", "ClusterServingRuntime", "ClusterStorageContainer")


def structural_refusals(meta: dict[str, Any]) -> list[str]:
    """The reasons among those that KServe was seen to give which are about structure: no webhook, no CEL rule."""
    told = [
        text
        for text in meta.get("rejected", [])
        if STRUCTURAL.search(text) and "is invalid:" not in text and 'Invalid value: "object":' not in text
    ]
    return told + meta.get("unknownFields", [])


def test_recorded_cases() -> None:
    """What a real API server took is taken; what it refused for its structure is refused."""
    folders = sorted(path.parent for path in (CONFORMANCE / "cases").glob("*/*/meta.json"))[::3]
    if not folders:
        pytest.skip("the recorded cases are not here")
    too_strict, too_lax, refused = [], [], 0
    for folder in folders:
        meta = json.loads((folder / "meta.json").read_text("utf-8"))
        files = [path for path in (folder / "input.yaml", folder / "update.yaml") if path.exists()]
        docs = [doc for path in files for doc in documents(path)]
        kserve = [doc for doc in docs if str(doc.value.get("apiVersion")).startswith("serving.kserve.io/")]
        found = {d.message: doc.value["kind"] for doc in kserve for d in SCHEMAS.check(doc)}
        # The recorded cluster took any text for a namespace.
        told = [m for m, kind in found.items() if kind in CHECKED_KINDS and "metadata.namespace" not in m]
        if structural_refusals(meta):
            refused += 1
            too_lax += [folder.name] if not found else []
        elif not meta.get("rejected"):
            too_strict += [(folder.name, told)] if told else []
    assert too_strict == []
    assert too_lax == []
    assert refused > 10
