"""Switches among KServe's annotations, and values of theirs that do not switch anything.

KServe compares most of them with one text and passes over every other, so that `True` or `yes` does nothing. Which keys
there are, and where they count, is told by `annotations`.

KServe: pkg/webhook/admission/pod/{metrics_aggregate,storage_initializer}_injector.go; pkg/utils/utils.go,
GetForceStopRuntime; reconcilers/knative/ksvc_reconciler.go; pkg/apis/serving/v1beta1/inference_service_defaults.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.serving.annotations import Oddity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

VALUE_WITHOUT_EFFECT = Code(
    "metadata/value-without-effect",
    Severity.WARNING,
    "a switch that does not switch",
    "KServe knows the annotation and compares its value with a fixed text; every other value, another case of its "
    "letters included, counts as if the annotation were not there.",
)

SWITCHES = frozenset({
    "serving.kserve.io/enable-metric-aggregation", "serving.kserve.io/enable-prometheus-scraping",
    "serving.kserve.io/enable-tag-routing", "storage.kserve.io/readonly",
})  # fmt: skip
ANY_CASE = frozenset({"serving.kserve.io/stop"})
PRESENT = frozenset({"serving.kserve.io/disable-localmodel"})
"""Switches that are on as soon as they are there."""
ALL = SWITCHES | ANY_CASE | PRESENT

ON, OFF = "true", "false"
TEXTS = ("", ON, OFF)


def odd_values(annotations: Mapping[str, object]) -> Iterable[Oddity]:
    """The switches whose values do not do what they seem to say."""
    return () if ALL.isdisjoint(annotations) else _odd_values(annotations)


def _odd_values(annotations: Mapping[str, object]) -> Iterator[Oddity]:
    for key, value in annotations.items():
        if not isinstance(value, str):
            continue
        text = value.lower() if key in ANY_CASE else value
        if (key in SWITCHES or key in ANY_CASE) and text not in TEXTS:
            message = f"the value {value!r} of annotation {key} has no effect"
            yield Oddity(key, VALUE_WITHOUT_EFFECT, message, f'write "{ON}" or "{OFF}"')
        elif key in PRESENT and value.lower() != ON:
            message = f"annotation {key} counts whatever its value; {value!r} does not undo it"
            yield Oddity(key, VALUE_WITHOUT_EFFECT, message, f'write "{ON}", or remove it')
