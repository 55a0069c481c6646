"""Templates in configs of LLMInferenceServices, as Go executes them over JSON text."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.llm.templates import data_of, filled

METADATA = {"name": "llama", "namespace": "ml", "labels": {"team": "a"}}
SPEC: dict[str, Any] = {
    "model": {"uri": "hf://meta/llama", "name": "llama-3"},
    "parallelism": {"tensor": 2, "dataRPCPort": 5000},
    "template": {"terminationGracePeriodSeconds": 90, "containers": [{"name": "main"}], "nodeSelector": {"gpu": "a"}},
    "kvCacheOffloading": {
        "cpu": "10Gi",
        "evictionPolicy": "lru",
        "secondary": [{}, {"fileSystem": {"emptyDir": {"size": "1Gi"}}}],
    },
}
DATA = data_of(METADATA, SPEC, {"EnableTLS": True, "SystemNamespace": "kserve"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ .Name }}.{{ .Namespace }}", "llama.ml"),
        (
            "{{ .GetName }}.{{ .GetNamespace }} {{ .APIVersion }}/{{ .Kind }}",
            "llama.ml serving.kserve.io/v1alpha2/LLMInferenceService",
        ),
        ("{{ .ObjectMeta.Name }} {{ .Labels.team }}", "llama a"),
        ("{{ .Spec.Model.Name }} {{ .Spec.Model.URI }}", "llama-3 hf://meta/llama"),
        ("{{ if .GlobalConfig.EnableTLS }}https{{ else }}http{{ end }}", "https"),
        ("{{ ChildName .Name `-epp-sa` }}", "llama-epp-sa"),
        ("{{ if .Spec.Parallelism.Tensor }}--tp={{ .Spec.Parallelism.Tensor }}{{ end }}", "--tp=2"),
        ("{{ if .Spec.Parallelism.Expert }}--ep{{ end }}|", "|"),
        ("{{ if .Spec.Prefill }}x{{ end }}|", "|"),
        ("{{ if and .Spec.Prefill .Spec.Prefill.Parallelism.Expert }}x{{ end }}|", "|"),
        ("{{ .Spec.Parallelism.DataRPCPort }}", "5000"),
        ("{{ or .Spec.Parallelism.Data 1 }}", "1"),
        ("{{ shutdownTimeout .Spec.Template 15 }}", "70"),
        ("{{ shutdownTimeout .Spec.Worker 15 }}", "40"),
        ("{{ shutdownTimeout .Spec.Worker 90 }}", "0"),
        ("{{ .Spec.Template.NodeSelector.gpu }} {{ index .Spec.Template.NodeSelector `gpu` }}", "a a"),
        (
            "{{ .Spec.Template.ServiceAccountName }}|{{ .Spec.Template.DNSPolicy }}|{{ .Spec.Template.HostNetwork }}",
            "||false",
        ),
        ("{{ with .Spec.Template.RuntimeClassName }}x{{ end }}{{ range .Spec.Template.Tolerations }}y{{ end }}|", "|"),
        ("{{ with index .Spec.Template.Containers 0 }}{{ .Name }} {{ .Image }}|{{ len .Args }}{{ end }}", "main |0"),
        ("a {{- if true }} b\n{{- end }}", "a b\n"),
        ("a\n  {{- `x` }}", "a\nx"),
        ("<&>{{ `` }}", "<&>"),
        ("no template", "no template"),
        (
            "{{ kvTransferConfig .Spec.KVCacheOffloading }}",
            '--kv-transfer-config \'{\\"kv_connector\\":\\"OffloadingConnector\\",\\"kv_connector_extra_config\\":'
            '{\\"cpu_bytes_to_use\\":10737418240,\\"eviction_policy\\":\\"lru\\",\\"secondary_tiers\\":'
            '[{\\"root_dir\\":\\"/mnt/kv-cache-1\\",\\"type\\":\\"fs\\"}],'
            '\\"spec_name\\":\\"TieringOffloadingSpec\\"},\\"kv_role\\":\\"kv_both\\"}\'',
        ),
        ("{{ kvTransferConfig .Spec.Prefill }}|", "|"),
    ],
)
def test_what_templates_give(text: str, expected: str) -> None:
    """Names, numbers and functions come out as in Go; trim markers leave the ends of lines, which JSON escapes."""
    assert filled({"a": [text]}, DATA).value == {"a": [expected]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{ .Spec.Prefill.Parallelism }}", "nil pointer"),
        ("{{ .Nope }}", "Nope"),
        ("{{ .Labels.nope }}", "nope"),
        ("{{ .Spec.Template.NodeSelector.nope }}", "nope"),
        ("{{ .Spec.Template.Nope }}", "Nope"),
        ("{{ .Spec.Template.Affinity.NodeAffinity }}", "nil pointer"),
        ('{{ "quoted" }}', "double quotes"),
        ("{{ if }}", "if"),
        ("{{ .Name ", "not closed"),
        ("{{ .Status.URL }}", "running cluster"),
    ],
)
def test_what_is_wrong_has_a_place(text: str, reason: str) -> None:
    """A template that Go refuses is refused, and the path of its text is known."""
    (error,) = filled({"spec": {"args": ["fine", text]}}, DATA).errors
    assert reason in str(error)
    assert error.where == ("spec", "args", 1)


IF, END, BAD, WORSE = "{{ if true }}x", "y{{ end }}", "{{ .Nope }}", "{{ .Name "


@pytest.mark.parametrize(
    ("texts", "wrong"),
    [
        ([BAD, "fine", WORSE], [0, 2]),
        ([BAD, BAD], [0, 1]),
        ([IF, END, BAD, WORSE], [2, 3]),
        ([IF, BAD, END], [1]),
        ([IF, BAD], [0, 1]),
        ([END, BAD, END], [0, 1, 2]),
        ([IF, IF, BAD], [0, 1, 2]),
        (["{{ $x := 1 }}", "{{ $x }}", BAD], [2]),
        (["{{ $x }}", BAD, "{{ break }}"], [0, 1, 2]),
        (["{{ range .Spec.Template.Containers }}", "{{ .Name }}{{ break }}", "{{ end }}", BAD], [3]),
        ([BAD, IF, END, END], [0]),
        ([*["{{ $x }}"] * 40, BAD], [0]),
    ],
)
def test_all_that_is_wrong_is_said_at_once(texts: list[str], wrong: list[int]) -> None:
    """Each text that fails is told of, but for halves of what is whole; the texts stay as they are."""
    made = filled(texts, DATA)
    assert [error.where for error in made.errors] == [(i,) for i in wrong]
    assert all(texts[i] in made.value for i in wrong)


def test_a_block_over_several_texts() -> None:
    """The whole object is one template in KServe, so a block may begin in one text and end in another."""
    assert filled({"a": "{{ if true }}x", "b": "y{{ end }}"}, DATA).value == {"a": "x", "b": "y"}


def test_keys_are_templates_too() -> None:
    """The names of a map's entries are part of the text."""
    assert filled({"labels": {"{{ .Name }}": "a"}}, DATA).value == {"labels": {"llama": "a"}}


@pytest.mark.parametrize(
    ("items", "kept"),
    [
        (["a", "{{ if false }}b{{ end }}", "c"], ["a", "c"]),
        (["--x=1", "{{ if false }}b{{ end }}"], ["--x=1"]),
        (["--x", "{{ if false }}b{{ end }}", "c"], ["--x", "", "c"]),
        (["a", ""], ["a", ""]),
    ],
)
def test_items_of_which_nothing_is_left(items: list[str], kept: list[str]) -> None:
    """They are left out, unless they were empty before or may be the value of a flag."""
    assert filled({"args": items}, DATA).value == {"args": kept}
