"""Names of revisions, and the stable revision that a canary by percentage leaves traffic to."""

from __future__ import annotations

import pytest

from kservec.core.knative.revisions import last_stable, revision_name, traffic

STABLE = "kservec.dev/stable-revision"


def build(knative, predictor, image, percent=None, previous=(), **more):
    """A build of one version, after another one."""
    fields = {} if percent is None else {"canaryTrafficPercent": percent}
    spec = predictor(server={"image": f"registry.example.com/server:{image}"}, **fields)
    return knative(spec, previous=previous, names_revisions=True, **more)


def shares(outcome):
    """The share of each revision; the latest one goes by the name in the template."""
    latest = outcome.template()["metadata"]["name"]
    return {t.get("revisionName", latest): t["percent"] for t in outcome.service()["spec"]["traffic"]}


def name_of(outcome):
    """The name of the revision that a build makes."""
    return outcome.template()["metadata"]["name"]


def test_names_follow_from_content(knative, predictor):
    """The same content has the same name in every build, and any change gives another."""
    first, again = (build(knative, predictor, "1") for _ in range(2))
    others = [build(knative, predictor, "2"), build(knative, predictor, "1", metadata={"labels": {"a": "b"}})]
    assert name_of(first) == name_of(again)
    assert len({name_of(o) for o in (first, *others)}) == 3
    assert name_of(first).startswith("churn-predictor-")


def test_traffic_does_not_change_the_name(knative, predictor):
    """A step of a canary changes shares alone: no new revision, and pods stay as they are."""
    stable = build(knative, predictor, "1")
    ten, half = (build(knative, predictor, "2", p, stable.tree) for p in (10, 50))
    assert name_of(ten) == name_of(half)
    assert ten.template() == half.template()


def test_the_server_numbers_revisions_unless_told(knative, predictor):
    """Without the option the template has no name, as under KServe."""
    assert "name" not in knative(predictor()).template()["metadata"]


def test_a_rollout_step_by_step(knative, predictor):
    """From one version to the next: each build starts from the tree of the one before it."""
    first = build(knative, predictor, "1")
    old, last, seen = name_of(first), first, [shares(first)]
    for percent in (10, 30, 50, 80):
        last = build(knative, predictor, "2", percent, last.tree)
        seen.append(shares(last))
    new = name_of(last)
    done = build(knative, predictor, "2", 100, last.tree)
    after = build(knative, predictor, "2", None, done.tree)
    steps = [{new: p, old: 100 - p} for p in (10, 30, 50, 80)]
    assert [*seen, shares(done), shares(after)] == [{old: 100}, *steps, {new: 100}, {new: 100}]


def test_going_back(knative, predictor):
    """A canary that is taken back leaves the old revision, by its name, with all traffic."""
    first = build(knative, predictor, "1")
    canary = build(knative, predictor, "2", 20, first.tree)
    none = build(knative, predictor, "2", 0, canary.tree)
    back = build(knative, predictor, "1", None, canary.tree)
    assert shares(none) == {name_of(canary): 0, name_of(first): 100}
    assert back.service() == first.service()


def test_a_second_canary_keeps_the_stable_revision(knative, predictor):
    """Another version in the middle of a canary shares with the revision that was stable before."""
    first = build(knative, predictor, "1")
    second = build(knative, predictor, "2", 20, first.tree)
    third = build(knative, predictor, "3", 30, second.tree)
    assert shares(third) == {name_of(third): 30, name_of(first): 70}


def test_a_canary_that_is_no_other_version(knative, predictor):
    """A share of traffic for what is stable already is named in a warning."""
    first = build(knative, predictor, "1")
    same, other = (build(knative, predictor, version, 20, first.tree) for version in ("1", "2"))
    assert (same.slugs, other.slugs) == (["knative/canary-of-itself"], ["knative/canary-runs"])
    told = f"the canary of churn-predictor is its stable revision, {name_of(first)}: nothing in it differs"
    assert same.compilation.diagnostics[0].message == told
    assert [d.help for d in (*same.compilation.diagnostics, *other.compilation.diagnostics)] == [
        "change the model or the pod, or remove the field",
        "end the canary in time",
    ]


def test_the_annotation_names_the_stable_revision(knative, predictor):
    """An annotation stands for the tree of the last build, and goes before it."""
    first = build(knative, predictor, "1")
    metadata = {"annotations": {STABLE: "churn-predictor-0123abcdef"}}
    outcome = build(knative, predictor, "2", 20, first.tree, metadata=metadata)
    assert shares(outcome) == {name_of(outcome): 20, "churn-predictor-0123abcdef": 80}
    assert outcome.slugs == ["knative/canary-runs"]


def test_each_component_has_its_own_canary(knative, predictor):
    """The annotation names a revision for each component, told apart by their beginnings."""
    part = predictor(canaryTrafficPercent=20)["predictor"]
    names = {"predictor": "churn-predictor-aaaaaaaaaa", "transformer": "churn-transformer-bbbbbbbbbb"}
    annotations = {STABLE: f"{names['transformer']}, {names['predictor']}"}
    outcome = knative({"predictor": part, "transformer": part}, metadata={"annotations": annotations})
    for role, name in names.items():
        assert outcome.service(f"churn-{role}")["spec"]["traffic"][1]["revisionName"] == name


def test_the_first_canary(knative, predictor):
    """A canary that nothing names a stable revision for is refused, with the commands that help."""
    outcome = build(knative, predictor, "1", 20)
    found = outcome.find("knative/first-canary")
    assert outcome.objects == {}
    assert "kservec.dev/stable-revision" in found.help
    assert "--previous" in found.help
    assert found.span.line > 1


def test_a_numbered_stable_revision(knative, predictor):
    """A revision without a name of its own cannot be referred to, whether the tree or the annotation says so."""
    unnamed = knative(predictor())
    by_tree = knative(predictor(canaryTrafficPercent=20), previous=unnamed.tree)
    annotations = {STABLE: "churn-predictor-00003"}
    by_hand = knative(predictor(canaryTrafficPercent=20), metadata={"annotations": annotations})
    assert by_tree.slugs == by_hand.slugs == ["knative/numbered-revision"]


@pytest.mark.parametrize(
    "name",
    [
        "other-predictor-0123abcdef",
        "churn-predictor-",
        "churn-predictor-stable",
        "churn-predictor-0123ABCDEF",
        "churn-predictor-0123abcdef, churn-predictor-aaaaaaaaaa",
    ],
)
def test_a_stable_revision_that_cannot_be(knative, predictor, name):
    """The annotation has to name one revision of the component, as a build could have made it."""
    metadata = {"annotations": {STABLE: name}}
    outcome = knative(predictor(canaryTrafficPercent=20), metadata=metadata)
    assert outcome.slugs == ["knative/stable-revision-unknown"]


def test_a_canary_that_takes_everything_needs_no_stable_revision(knative, predictor):
    """With 100 percent nothing is left to share."""
    outcome = knative(predictor(canaryTrafficPercent=100))
    assert outcome.service()["spec"]["traffic"] == [{"latestRevision": True, "percent": 100}]


def test_tags_of_a_canary(knative, predictor):
    """With tag routing both revisions have host names of their own."""
    annotations = {STABLE: "churn-predictor-0123abcdef", "serving.kserve.io/enable-tag-routing": "true"}
    outcome = knative(predictor(canaryTrafficPercent=20), metadata={"annotations": annotations})
    assert [t["tag"] for t in outcome.service()["spec"]["traffic"]] == ["latest", "prev"]


@pytest.mark.parametrize(
    ("previous", "name"),
    [
        ({}, ""),
        ({"spec": {"template": {"metadata": {"name": "a-1"}}}}, "a-1"),
        ({"spec": {"template": {"metadata": {"name": "a-2"}}, "traffic": [{}, {"revisionName": "a-1"}]}}, "a-1"),
    ],
)
def test_the_stable_revision_of_a_tree(previous, name):
    """The one beside a canary, else the one that the tree makes."""
    assert last_stable(previous) == name


def test_names_do_not_depend_on_the_order_of_keys():
    """Two templates that say the same have the same name."""
    assert revision_name("a", {"x": 1, "y": 2}) == revision_name("a", {"y": 2, "x": 1})


def test_all_traffic_without_a_canary():
    """The latest revision has everything."""
    assert traffic(None, "", tagged=False) == [{"latestRevision": True, "percent": 100}]


@pytest.mark.parametrize(("longest", "tag", "named"), [(42, "false", True), (46, "true", False), (53, "false", False)])
def test_long_names(knative, predictor, longest, tag, named):
    """With its component, and with hash or tag, a name has 63 characters at most."""
    annotations = {"serving.kserve.io/enable-tag-routing": tag}
    for length, slugs in ((longest, []), (longest + 1, ["output/long-name", "exposure/invalid-domain"])):
        metadata = {"name": "c" * length, "annotations": annotations}
        outcome = knative(predictor(), metadata=metadata, names_revisions=named)
        assert outcome.compilation.ok is not bool(slugs)
        assert set(outcome.slugs) <= set(slugs)
