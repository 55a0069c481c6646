"""Placeholders and the Go templates behind them: recorded renderings and the rules one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kservec.core.golang.formatting import NilPointer, Struct
from kservec.core.golang.object_templates import every_error
from kservec.core.golang.placeholders import (
    TemplateError,
    fill_container,
    fill_metadata,
    render_container,
    render_text,
)
from kservec.core.golang.template import HTML, TEXT, Options, render
from kservec.core.pods.strategic import omit_empty

FOLDER = Path(__file__).parent / "vectors"
TEMPLATES = json.loads((FOLDER / "gotemplate.json").read_text(encoding="utf-8"))
CONTAINERS = json.loads((FOLDER / "placeholders.json").read_text(encoding="utf-8"))
META = {"name": "churn", "namespace": "ml", "labels": {"team": "x"}, "annotations": {"note": "a+b <c> & 'd'"}}


@pytest.mark.parametrize("case", TEMPLATES["cases"], ids=range(len(TEMPLATES["cases"])))
def test_renders_as_go_does(case: dict[str, Any]) -> None:
    """Every recorded template gives the recorded output, or fails as it did in Go."""
    meta = TEMPLATES["metadata"]
    data = Struct("meta", {
        "Name": meta["name"], "Namespace": meta["namespace"], "GenerateName": "", "IngressDomain": "example.com",
        "Labels": meta["labels"], "Annotations": meta["annotations"],
        **({"Finalizers": meta["finalizers"]} if case["mode"] == "html" else {}),
    })  # fmt: skip
    if case["mode"] == "text":
        data = data._replace(fields={k: v for k, v in data.fields.items() if k != "GenerateName"})
    if case["output"] is None:
        with pytest.raises(TemplateError) as error:
            render(case["template"], data, HTML if case["mode"] == "html" else TEXT)
        assert not error.value.unsupported
    else:
        assert render(case["template"], data, HTML if case["mode"] == "html" else TEXT) == case["output"]


@pytest.mark.parametrize("case", CONTAINERS, ids=range(len(CONTAINERS)))
def test_renders_containers_as_kserve_does(case: dict[str, Any]) -> None:
    """Every recorded container gives the recorded one, or fails as it did in KServe."""
    if case["rendered"] is None:
        with pytest.raises(TemplateError):
            render_container(case["container"], case["metadata"])
    else:
        assert omit_empty(render_container(case["container"], case["metadata"])) == case["rendered"]


@pytest.mark.parametrize(
    ("arg", "expected"),
    [
        ("--{{.Name}}", "--churn"),
        ("--{{ .Namespace }}", "--ml"),
        ("--{{.Labels.team}}", "--x"),
        ("--{{.Labels.missing}}", "--"),
        ("--{{index .Labels `team`}}", "--x"),
        ("--{{.Annotations.note}}", "--a&#43;b &lt;c&gt; &amp; &#39;d&#39;"),
        ("--{{.GenerateName}}-{{len .Labels}}", "---1"),
        ("--{{if .Labels.team}}{{.Labels.team}}{{else}}none{{end}}", "--x"),
        ("--{{len .Name}}", "--5"),
        ("--{{.Name | printf `%s-x`}}", "--churn-x"),
        ("a  {{- .Name -}}  b", "achurnb"),
        ("a{{/* a remark */}}b", "ab"),
        ("{{range $k, $v := .Labels}}{{$k}}={{$v}}{{end}}", "team=x"),
        ("<{{.Name}}>\n", "<churn>\n"),
    ],
)
def test_placeholders_in_arguments(arg: str, expected: str) -> None:
    """What people write in runtimes."""
    assert render_container({"name": "c", "args": [arg]}, META) == {"name": "c", "args": [expected]}


@pytest.mark.parametrize(
    ("arg", "message"),
    [
        ('--{{index .Labels "team"}}', r"unexpected '\\'"),
        ("--{{.Name", "bad character"),
        ("--{{.ObjectMeta.Name}}", "can't evaluate field ObjectMeta in type v1.ObjectMeta"),
        ("--{{.GetName}}", "can't evaluate field GetName"),
        ("--{{nope .Name}}", "function 'nope' not defined"),
        ("--{{}}", "missing value"),
        ("--{{if .Name}}", "end}} is missing"),
        ("--{{end}}", "unexpected {{end}}"),
        ("--{{.Labels.broken}}", "no JSON"),
        ("--{{.Name.x}}", "can't evaluate field x in type string"),
    ],
)
def test_errors_name_the_string(arg: str, message: str) -> None:
    """A failing placeholder is found in the container, even between others that work."""
    container = {"name": "c", "image": "i{{.Name}}", "env": [{"name": "A", "value": "{{.Name}}"}], "args": ["a", arg]}
    with pytest.raises(TemplateError, match=r".") as error:
        render_container(container, {**META, "labels": {"broken": "a\nb"}})
    assert message in error.value.message
    assert error.value.where in {("args", 1), ()}
    assert error.value.where == ("args", 1) or "missing" in message


@pytest.mark.parametrize(
    ("arg", "message"),
    [
        ("{{.UID}}", "metadata field UID is known only in a running cluster"),
        ("{{.CreationTimestamp}}", "known only in a running cluster"),
        ("{{template `x`}}", "{{template}} is not supported"),
        ("{{call .Name}}", "call is not supported"),
        ("{{.}}", "v1.ObjectMeta as a whole"),
        ("{{range 1000000000}}x{{end}}", "steps"),
        ("{{$x := .Name}}{{range 60}}{{$x = print $x $x}}{{end}}", "a text is longer"),
        ("{{range 90}}{{printf `%99999d` 1}}{{end}}", "the output is longer"),
        ("{{range 90000}}{{range 90000}}x{{end}}{{end}}", "steps"),
        ("{{" + "(" * 200 + ".Name" + ")" * 200 + "}}", "nested"),
        ("{{printf `%p` .Name}}", "is not supported"),
    ],
)
def test_what_is_refused_by_name(arg: str, message: str) -> None:
    """Constructs outside the subset, and what no compiler can know, are named."""
    with pytest.raises(TemplateError) as error:
        render_container({"args": [arg]}, META)
    assert message in error.value.message


@pytest.mark.parametrize(
    "arg",
    [
        "{{.Name}}",
        "{{ .Namespace}}{{.Name }}",
        "<{{.Name}}>&+",
        "\\{{.Name}}\n\t'\"",
        "{ {{.Name}} }",
        "é\u2028{{.Name}}",
    ],
)
def test_names_are_filled_in_as_a_template_would(arg: str) -> None:
    """Placeholders that only ask for names give the same whether or not the rest makes a template of the container."""
    alone = render_container({"args": [arg, 1, None, True, {}, []]}, META)
    beside = render_container({"args": [arg, 1, None, True, {}, []], "env": [{"name": "{{len .Name}}"}]}, META)
    assert alone["args"] == beside["args"]


@pytest.mark.parametrize("arg", ["{{{.Name}}", "{{{.Name}}}", "{{\n.Name}}", "{{.Name.x}}", "{{.Names}}"])
def test_what_is_near_a_name_is_a_template(arg: str) -> None:
    """What only looks like a placeholder for a name is read as a template, and fails as one."""
    with pytest.raises(TemplateError):
        render_container({"args": [arg]}, META)


@pytest.mark.parametrize(
    ("args", "wrong"),
    [
        (["{{ .Nmae }}", "fine", "{{ .Spec"], [0, 2]),
        (["{{ .Name }}", "{{ .Nope }}"], [1]),
        (["{{ if .Name }}", "{{ .Nope }}", "{{ end }}", "{{ .Nmae }}"], [0]),
    ],
    ids=["two", "one", "a block over several texts"],
)
def test_every_text_that_fails_is_told_of(args: list[str], wrong: list[int]) -> None:
    """But where a block may reach over several: the first of those."""
    container = {"name": "c", "args": args}
    with pytest.raises(TemplateError) as first:
        fill_container(container, META)
    assert [error.where for error in every_error(container, META, first.value)] == [("args", i) for i in wrong]


def test_values_go_raw_into_json() -> None:
    """A backslash in a value starts an escape when the container is read back, and a lone surrogate is replaced."""
    meta = {"name": "n", "labels": {"a": r"x\ty", "b": r"\ud800"}}
    assert render_container({"args": ["{{.Labels.a}}{{.Labels.b}}"]}, meta) == {"args": ["x\ty\ufffd"]}


def test_a_container_without_placeholders_is_untouched() -> None:
    """Without an opening delimiter nothing is rendered, and the same value comes back."""
    container = {"name": "c", "args": ["}}", "{ {", "<&>"]}
    assert render_container(container, META) is container


def test_variables_reach_the_fields_that_follow() -> None:
    """A container is one template, in the order of Go's struct: the command comes before the arguments."""
    container = {"args": ["{{$x}}"], "command": ["{{$x := .Name}}run"]}
    assert render_container(container, META) == {"command": ["run"], "args": ["churn"]}


def test_a_block_over_several_fields_is_refused() -> None:
    """KServe would leave the placeholders of a field that a block swallows."""
    with pytest.raises(TemplateError, match="several fields"):
        render_container({"command": ["{{if .Labels.no}}a"], "args": ["b{{end}}c"]}, META)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}", "churn-ml.example.com"),
        ("{{ .Name }}.{{ .Labels.team }}.{{ .Labels.none }}", "churn.x.<no value>"),
        ('{{ index .Labels "team" }}', "x"),
        ("<{{ .Annotations.note }}>", "<a+b <c> & 'd'>"),
        ("plain", "plain"),
    ],
)
def test_domain_templates(template: str, expected: str) -> None:
    """Nothing is escaped, quotes work, and a missing label shows."""
    fields = {"Name": "churn", "Namespace": "ml", "IngressDomain": "example.com",
              "Labels": META["labels"], "Annotations": META["annotations"]}  # fmt: skip
    assert render_text(template, fields) == expected


def test_path_templates_have_no_labels() -> None:
    """Only what the caller names can be used; the error says where."""
    with pytest.raises(TemplateError, match="can't evaluate field Labels") as error:
        render_text("/x/{{ .Labels.team }}", {"Name": "churn", "Namespace": "ml"})
    assert error.value.offset == 6


def test_functions_are_a_parameter() -> None:
    """Presets bring functions of their own; a nil argument arrives as None."""
    options = Options(functions={"double": lambda n: (n or 1) * 2})
    assert render("{{double 4}} {{3 | double}} {{double .None}}", {}, options) == "8 6 2"
    with pytest.raises(TemplateError, match="wrong arguments for double"):
        render("{{double 1 2}}", {}, options)


def test_missing_keys_may_be_errors() -> None:
    """Presets are rendered with Go's option missingkey=error."""
    with pytest.raises(TemplateError, match="no entry for key 'b'"):
        render("{{.a}}{{.b}}", {"a": "x"}, Options(missing_key_fails=True))


def test_nil_pointers_fail_only_when_entered() -> None:
    """A nil pointer is false, and an error as soon as a field of it is asked for."""
    spec = Struct("Spec", {"Parallelism": NilPointer("Parallelism"), "Worker": Struct("Pod", {})})
    assert render("{{if .Parallelism}}a{{else}}b{{end}}{{if .Worker}}c{{end}}", spec) == "bc"
    assert render("{{and .Parallelism .Parallelism.Expert}}", spec) == "<nil>"
    with pytest.raises(TemplateError, match=r"nil pointer evaluating \*Parallelism\.Expert"):
        render("{{.Parallelism.Expert}}", spec)


def is_plain(case: dict[str, Any]) -> bool:
    """Whether the metadata of a recorded case holds nothing that HTML or JSON would write in another way."""
    texts = (*case["metadata"]["labels"].values(), *case["metadata"]["annotations"].values())
    return not any(set(text) & set("+<>&'\"\\\n\t") for text in texts)


@pytest.mark.parametrize("case", [c for c in CONTAINERS if is_plain(c) and c["rendered"] is not None])
def test_texts_are_filled_in_as_kserve_would(case: dict[str, Any]) -> None:
    """With values that need no escaping a container filled in text by text is the recorded one."""
    assert omit_empty(fill_container(case["container"], case["metadata"])) == case["rendered"]


@pytest.mark.parametrize(
    ("arg", "expected"),
    [
        ("--{{.Annotations.note}}", "--a+b <c> & 'd'"),
        ('--{{index .Labels "team"}}', "--x"),
        ("--{{.Labels.missing}}", "--"),
        ("{{range $k, $v := .Labels}}{{$k}}={{$v}}{{end}}", "team=x"),
        ("--{{.Labels.broken}}", "--"),
    ],
)
def test_values_come_out_as_they_are_written(arg: str, expected: str) -> None:
    """Nothing is escaped, quotes may stand in an action, and a missing label is empty."""
    assert fill_container({"name": "c", "args": [arg]}, META) == {"name": "c", "args": [expected]}


def test_blocks_over_several_texts_are_left_to_kserves_way() -> None:
    """A variable of one text reaches the next, as in KServe."""
    assert fill_container({"args": ["{{$x}}"], "command": ["{{$x := .Name}}run"]}, META) == {
        "command": ["run"],
        "args": ["churn"],
    }


def test_a_wrong_text_is_named() -> None:
    """The error of a text has its path, even between others that work."""
    with pytest.raises(TemplateError, match="not defined") as error:
        fill_container({"args": ["{{.Name}}", "{{nope .Name}}"]}, META)
    assert error.value.where == ("args", 1)


@pytest.mark.parametrize("text", ["{{ .Values.x }}", "{{ .Name }} {{ nope }}", "{{ $labels.x }}", "{{", "{{.Names}}"])
def test_templates_of_another_kind_stay(text: str) -> None:
    """Beside the server, texts that are no templates of KServe's stay as they are; others are filled in."""
    assert fill_metadata({"args": [text, "{{.Name}}"]}, META) == {"args": [text, "churn"]}
