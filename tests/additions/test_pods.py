"""What a project changes in pods: settings of security, tokens, spread; and that names follow."""

from __future__ import annotations

from typing import Any

import pytest

from .making import made, objects, service, slugs

PROBED: dict[str, Any] = {"name": "audit", "image": "registry.example.com/audit:1"}


def pod(text: str, **additions: Any) -> Any:
    """The pod of the only Deployment."""
    (deployment,) = objects(made(text, **additions), "Deployment").values()
    return deployment["spec"]["template"]["spec"]


def context(pod: Any, name: str) -> Any:
    """The security settings of a container."""
    return next(c for c in pod["containers"] if c["name"] == name).get("securityContext", {})


def test_a_users_container_is_left_alone() -> None:
    """Only with `all` its settings are filled in."""
    text = service(containers=[PROBED])
    assert context(pod(text, pod_security="restricted"), "audit") == {}
    assert context(pod(text, pod_security="restricted", secures_all=True), "audit") == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


@pytest.mark.parametrize(
    "own",
    [
        {"allowPrivilegeEscalation": True, "capabilities": {"drop": ["MKNOD"]}, "runAsNonRoot": False},
        {"privileged": True},
        {"runAsUser": 0, "seccompProfile": {"type": "Unconfined"}},
        {"capabilities": {"add": ["SYS_ADMIN"]}},
        {"capabilities": {"add": ["CHOWN", "CAP_SYS_ADMIN"]}},
    ],
)
def test_what_is_written_stays(own: Any) -> None:
    """Nothing that a user wrote is replaced, and nothing is added that contradicts it."""
    made_of = context(pod(service(containers=[{**PROBED, "securityContext": own}]), pod_security="restricted",
                          secures_all=True), "audit")  # fmt: skip
    assert {key: made_of[key] for key in own if key != "capabilities"} == {
        key: value for key, value in own.items() if key != "capabilities"
    }
    assert made_of["capabilities"] | own.get("capabilities", {}) == made_of["capabilities"]
    gains = made_of.get("privileged") or any("SYS_ADMIN" in name for name in made_of["capabilities"].get("add", ()))
    assert made_of.get("allowPrivilegeEscalation") is not False or not gains
    assert made_of.get("runAsNonRoot") is not True or made_of.get("runAsUser") != 0


def test_a_model_that_runs_as_root_is_left_so() -> None:
    """Images of models run as the platform has them run, but for one that says whom it runs as."""
    own = {"name": "modelcar-more", "image": "registry.example.com/more:1", "securityContext": {"runAsUser": 0}}
    model = {"modelFormat": {"name": "sklearn"}, "storageUri": "oci://registry.example.com/iris:1"}
    text = service(model=model, containers=[own])
    found = pod(text, pod_security="restricted", secures_all=True)
    assert context(found, "modelcar")["runAsUser"] == 1010
    assert context(found, "modelcar")["runAsNonRoot"] is True
    assert context(found, "modelcar-more")["runAsUser"] == 0
    assert "runAsNonRoot" not in context(found, "modelcar-more")


def test_the_pods_settings_count_for_its_containers() -> None:
    """What the pod says is not said again, nor against it."""
    text = service(
        containers=[PROBED],
        securityContext={"runAsNonRoot": False, "seccompProfile": {"type": "Localhost", "localhostProfile": "p"}},
    )
    assert context(pod(text, pod_security="restricted", secures_all=True), "audit") == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }


@pytest.mark.parametrize("level", ["baseline", "privileged"])
def test_other_levels_ask_for_nothing(level: str) -> None:
    """Pods stay as they are without a project."""
    assert pod(service(), pod_security=level) == pod(service())


def test_a_token_that_is_asked_for_stays() -> None:
    """The spec's own word counts."""
    assert pod(service(), hides_tokens=True)["automountServiceAccountToken"] is False
    assert pod(service(automountServiceAccountToken=True), hides_tokens=True)["automountServiceAccountToken"] is True
    assert "automountServiceAccountToken" not in pod(service())


def test_a_revision_is_named_by_all_that_is_in_it() -> None:
    """Whatever a project changes in a Knative service's pods makes another revision."""
    text = service(mode="Knative")
    variants: list[dict[str, Any]] = [
        {},
        {"pod_security": "restricted"},
        {"hides_tokens": True},
        {"image_rewrites": {"docker.io/": "m.example/"}},
        {"spread": ({"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"},)},
    ]
    names = {
        objects(made(text, **variant), "Service")["iris-predictor"]["spec"]["template"]["metadata"]["name"]
        for variant in variants
    }
    assert len(names) == len(variants)


def test_knative_is_asked_for_what_the_spread_needs() -> None:
    """Constraints are a feature of Knative's, so that nobody is surprised when it refuses the service."""
    spread = ({"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"},)
    found = made(service(mode="Knative"), spread=spread).diagnostics
    assert any("podspec-topologyspreadconstraints" in d.message for d in found)


def test_a_services_namespace_is_enough_to_refuse_it() -> None:
    """One finding a service, however many objects it leads to."""
    assert slugs(made(service(), namespaces=("other",))) == ["project/namespace"]
    assert slugs(made(service(), namespaces=("other", "ml"))) == []
