"""choose_presets: an LLMInferenceService is laid over its presets and base configs, and its templates are filled."""

from __future__ import annotations

from functools import lru_cache, partial, reduce
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kservec.core.diagnostics import Code, Needed, Reject, Severity, gathered
from kservec.core.llm.merging import UnmergeableError, full, laid_over, merged
from kservec.core.llm.presets import preset_names
from kservec.core.llm.resolved import after_templates, before_templates, pool_name
from kservec.core.llm.rules.merged import merged_findings, structure_findings
from kservec.core.llm.rules.name import name_errors
from kservec.core.llm.scheduler_source import with_scheduler_config
from kservec.core.llm.settings import default_gateway, model_header
from kservec.core.llm.templates import data_of, filled, plain_parts
from kservec.core.records import evolve
from kservec.core.spelling import meant_name
from kservec.core.tree import Layers, Moved, Tree
from kservec.core.unit import Step, finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from kservec.core.catalog import Preset
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.golang.formatting import Struct
    from kservec.core.golang.template_error import TemplateError
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Origin, Path
    from kservec.core.unit import Unit

T = TypeVar("T")

NOT_FOUND = Code(
    "llm/config-not-found",
    Severity.ERROR,
    "no config of that name",
    "A base config, or a preset, is an LLMInferenceServiceConfig in the service's namespace or in KServe's.",
)
UNMERGEABLE = Code(
    "llm/scheduler-configs-clash",
    Severity.ERROR,
    "two inline scheduler configurations cannot be merged",
    "Lists and maps in the scheduler's inline configuration have no merge keys. Of a service and its base configs only "
    "one may have them.",
)
TEMPLATE = Code(
    "llm/template",
    Severity.ERROR,
    "a template cannot be filled in",
    "Texts between {{ and }} in services, presets and base configs are Go templates over the service as it is written "
    "(.Name, .Spec, ...) and .GlobalConfig. What stands in base configs alone is not in .Spec.",
)


def choose_presets(unit: Unit, env: Env) -> Step:
    """Resolve the spec of a service; that of a stopped one stays as it is.

    Takes:   nothing
    Writes:  resolved
    Reports: llm/name, llm/config-not-found, llm/scheduler-configs-clash, llm/template, llm/scheduler-config-not-found,
             llm/scheduler-config-text; all that is wrong with a merged spec
    KServe:  pkg/controller/v1alpha2/llmisvc/config_merge.go, reconcileBaseRefs
    """
    if unit.stopped:
        return Step(unit)
    misnamed = tuple(name_errors(unit))
    try:
        spec, unusable = resolved_spec(unit, env)
    except Reject as reject:
        raise Reject(*misnamed, *reject.diagnostics) from None
    wrong = (*misnamed, *unusable)
    if wrong and structure_findings(unit, spec, env):
        raise Reject(*wrong)
    return Step(evolve(unit, resolved=spec), wrong or merged_findings(unit, spec, env))


class Made(NamedTuple):
    """A spec, and why it cannot be used."""

    spec: Tree
    unusable: tuple[Diagnostic, ...]


def resolved_spec(unit: Unit, env: Env) -> Made:
    """The spec of a service with its configs; templates and configurations that cannot be used stay as they are.

    Raises:
        Reject: configs are missing or wrong, or clash.
    """
    own: Json = unit.spec.json["spec"]
    refs: list[Json] = own.get("baseRefs") or []
    bases = gathered(partial(found_config, unit, env, ref.get("name") or "", i) for i, ref in enumerate(refs))
    seen = overlaid(unit, own, lambda spec: reduce(laid_over, (full(base.spec) for base in bases), spec))
    name = (seen.get("model") or {}).get("name")
    if name:
        # A base config that names the model wins over the service, here and in templates.
        own = {**own, "model": {**(own.get("model") or {}), "name": name}}
    names = preset_names(seen, tokenizes_apart=env.profile.tokenizes_apart)
    presets = gathered(partial(found_config, unit, env, preset) for preset in names)
    laid = overlaid(unit, own, lambda _: laid_together((*presets, *bases)))
    spec = before_templates(merged_tree(unit, own, laid), unit.name)
    data = data_of(unit.spec.json["metadata"], spec.value, global_config(unit, spec.value, env))
    made = with_templates(unit, spec, data, laid.plain)
    spec = after_templates(made.spec, unit.name)
    try:
        return Made(with_scheduler_config(unit, spec, env), made.unusable)
    except Reject as reject:
        return Made(spec, (*made.unusable, *reject.diagnostics))


def found_config(unit: Unit, env: Env, name: str, index: int | None = None) -> Preset:
    """A config by name: that of the service's namespace, or of KServe's. `index` is that of a base config.

    Raises:
        Reject: there is none, or its structure is wrong.
    """
    namespaces = (unit.namespace, env.platform.kserve_namespace)
    for namespace in namespaces:
        found = env.catalog.presets.get((namespace, name))
        if found is not None:
            if found.faults:
                raise Reject(*found.faults)
            return found
    place: Path = ("metadata", "name") if index is None else ("spec", "baseRefs", index)
    kind = "preset" if index is None else "base config"
    message = f"{unit.ref} needs the {kind} {name}, which is neither in {' nor in '.join(namespaces)}"
    meant = meant_name(name, {known for place, known in env.catalog.presets if place in namespaces})
    hint = f"declare LLMInferenceServiceConfig {name} among the platform's files"
    hint = f"did you mean {meant}?" if meant is not None and index is not None else hint
    needed = tuple(Needed("LLMInferenceServiceConfig", namespace, name) for namespace in namespaces)
    raise Reject(evolve(finding(unit, NOT_FOUND, message, place, hint), rests_on=needed))


def overlaid(unit: Unit, own: Json, lay: Callable[[Json], T]) -> T:
    """What is made of the service's spec and its configs, which are laid over each other.

    Raises:
        Reject: two inline scheduler configurations clash.
    """
    try:
        return lay(full(own))
    except UnmergeableError as error:
        message = f"two inline scheduler configurations of {unit.ref} have {error.field}, and cannot be merged"
        place = ("spec", "router", "scheduler", "config")
        raise Reject(finding(unit, UNMERGEABLE, message, place, "leave the configuration to one of them")) from None


class Laid(NamedTuple):
    """Configs laid over each other, the weakest first, and the identities of parts that have no templates."""

    spec: Json
    layers: tuple[tuple[Json, Origin], ...]
    plain: frozenset[int]


@lru_cache(maxsize=64)
def laid_together(configs: tuple[Preset, ...]) -> Laid:
    """Configs laid over each other. A fleet of services has few sets of them.

    Raises:
        UnmergeableError: two inline scheduler configurations clash.
    """
    spec = merged(config.spec for config in configs) if configs else {}
    return Laid(spec, tuple((c.spec, c.origin("spec")) for c in reversed(configs)), plain_parts(spec))


def merged_tree(unit: Unit, own: Json, laid: Laid) -> Tree:
    """The service's spec laid over its configs, with where each value comes from.

    Raises:
        Reject: two inline scheduler configurations clash.
    """
    value = overlaid(unit, own, lambda spec: laid_over(laid.spec, spec) if laid.layers else spec)
    return Tree.of(value, Layers(((own, unit.source.origin("spec")), *laid.layers)))


def with_templates(unit: Unit, spec: Tree, data: Struct, plain: frozenset[int]) -> Made:
    """The spec with its templates filled in, but for those that cannot be.

    Those in the service's metadata are only tried, as in KServe.
    """
    made = filled({"metadata": unit.spec.json["metadata"], "spec": spec.value}, data, plain)
    wrong = tuple(unfilled(unit, spec, error) for error in made.errors)
    value = made.value["spec"]
    tree = spec if value is spec.value else spec.refill((), value)
    for at, kept in made.left_out.items():
        tree = tree.note(at[1:], Moved(spec, at[1:], kept)) if at[:1] == ("spec",) else tree
    return Made(tree, wrong)


def unfilled(unit: Unit, spec: Tree, error: TemplateError) -> Diagnostic:
    """The error about a template that cannot be filled in."""
    at = error.where
    place = spec.span(at[1:]) if at[:1] == ("spec",) else unit.source.span(*at)
    message = f"a template of {unit.ref} cannot be filled in: {error}"
    return finding(unit, TEMPLATE, message, place, "correct the text between {{ and }}")


def global_config(unit: Unit, spec: Json, env: Env) -> dict[str, str | bool]:
    """What templates see of the platform. KServe: config_merge.go, templateGlobalConfig."""
    platform, gateway = env.platform, default_gateway(env.platform)
    return {
        "SystemNamespace": platform.kserve_namespace,
        "IngressGatewayName": gateway.name,
        "IngressGatewayNamespace": gateway.namespace,
        "EnableTLS": platform.ingress.enable_llm_inference_service_tls,
        "ModelBasedRoutingHeaderName": model_header(platform),
        "InferencePoolNamespacedName": f"{unit.namespace}/{pool_name(unit.name, spec)}",
    }
