"""Model URIs: which scheme a URI has, which are supported, and what is said of the others."""

from __future__ import annotations

import pytest

from kservec.compilation import presentable
from kservec.core.additions import Additions
from kservec.core.diagnostics import ObjectRef
from kservec.core.models.model_uri import (
    is_local_path,
    is_supported,
    meant_uri,
    settled_scheme,
    supported_forms,
    unknown_scheme,
)
from kservec.core.models.odd_uris import unfilled
from kservec.core.models.storage_scheme import Delivery
from kservec.core.records import evolve
from kservec.core.registry import unambiguous
from kservec.core.text.confidential import showable
from kservec.core.tree import Layer, Origin

from .conftest import SETTINGS, account, secret, storage_container


@pytest.mark.parametrize(
    ("uri", "name", "supported"),
    [
        ("s3://bucket/m", "s3", True),
        ("gs://bucket/m", "gs", True),
        ("pvc://claim/m", "pvc", True),
        ("hf://org/model", "hf", True),
        ("hdfs://node/m", "hdfs", True),
        ("webhdfs://node/m", "hdfs", True),
        ("http://host/m", "http", True),
        ("https://host/m.tgz", "http", True),
        ("file:///m", "file", True),
        ("https://acme.blob.core.windows.net/c/m", "azure", True),
        ("https://acme.blob.core.windows.net/", "azure", False),
        ("s3://blob.core.windows.net/m", "azure", False),
        ("https://acme.file.core.windows.net/s/m", "azure", True),
        ("oci://host/m:1", "oci", True),
        ("oci+native://host/m:1", "oci+native", True),
        ("oci+fetch://host/m:1", "oci+fetch", True),
        ("oci+modelcar://host/m:1", "oci+modelcar", False),
        ("oci+word://host/m:1", "oci+modelcar", False),
        ("modelscope://org/m", "modelscope", False),
        ("/abs/path", "local path", True),
        ("relative/path", "local path", True),
        ("oci+words", "local path", True),
        ("", "local path", True),
        ("ftp://host/m", None, False),
        ("S3://bucket/m", None, False),
    ],
)
def test_the_scheme_of_a_uri(bench, uri, name, supported):
    """Each URI has the scheme that recognises most of it, and is supported if KServe's own list has it."""
    env = bench().env
    scheme = env.plugs.scheme(uri)
    assert (scheme.name if scheme is not None else None) == name
    assert is_supported(uri, env) is supported


@pytest.mark.parametrize("uri", ["dvc://a/b", "modelscope://org/m", "oci+word://host/m:1"])
def test_a_storage_container_supports_what_it_takes(bench, uri):
    """A ClusterStorageContainer makes a URI supported that no scheme of KServe's list knows."""
    env = bench().env
    container = storage_container("any", {"prefix": uri[:6]})
    catalog = evolve(env.catalog, storage_containers=(container,))
    assert is_supported(uri, evolve(env, catalog=catalog))
    disabled = evolve(env.catalog, storage_containers=(evolve(container, disabled=True),))
    assert not is_supported(uri, evolve(env, catalog=disabled))


@pytest.mark.parametrize(
    ("settings", "uri", "name"),
    [
        ({}, "oci+modelcar://host/m:1", "oci+modelcar"),
        ({"ociModelMode": "native"}, "oci+native://host/m:1", "oci+native"),
        ({"ociModelMode": "fetch"}, "oci+fetch://host/m:1", "oci+fetch"),
        ({"enableModelcar": False, "enableOciModelSupport": True}, "oci+modelcar://host/m:1", "oci+modelcar"),
        ({"enableModelcar": False}, "oci://host/m:1", "oci"),
    ],
)
def test_the_platform_settles_how_images_come(bench, settings, uri, name):
    """A bare image URI takes the platform's mode; without one it is left to the storage initializer."""
    env = bench(storageInitializer={**SETTINGS, **settings}).env
    settled, scheme = settled_scheme("oci://host/m:1", env)
    assert scheme is not None
    assert (settled, scheme.name) == (uri, name)
    assert (scheme.delivery is Delivery.DOWNLOAD) == (name == "oci")


@pytest.mark.parametrize(("uri", "local"), [("a/b", True), ("a:b", True), ("x://y", False), ("://y", True)])
def test_what_a_local_path_is(uri, local):
    """A URI is a local path unless a word, a colon and two slashes are in it."""
    assert is_local_path(uri) is local


@pytest.mark.parametrize(("uri", "meant"), [("S3://b/m", "s3"), ("g3://b/m", "gs"), ("htttp://h/m", "http")])
def test_a_misspelt_scheme(attach, uri, meant):
    """An unknown scheme is refused at the URI, with the scheme that was probably meant."""
    (found,) = attach(uri).diagnostics
    assert found.code.slug == "storage/unknown-scheme"
    assert f"did you mean {meant}://?" in found.help
    assert found.span is not None
    assert found.span.file == "isvc.yaml"


@pytest.mark.parametrize(
    ("uri", "meant"),
    [
        ("gs//a/b", "gs://a/b"),
        ("s3:/a/b", "s3://a/b"),
        ("pvc:/claim/x", "pvc://claim/x"),
        ("hf//org/model", "hf://org/model"),
        ("gs:a/b", "gs://a/b"),
        ("S3;//a/b", "s3://a/b"),
        (" s3:\\\\a/b", "s3://a/b"),
        ("htps:/host/m", "https://host/m"),
        ("oci+native:host/m:1", "oci+native://host/m:1"),
        ("modelscope//org/m", "modelscope://org/m"),
        ("file:/m", "file:///m"),
        ("s3 ://a/b", "s3://a/b"),
        ("gs: //a/b", "gs://a/b"),
        ("hf :/org/model", "hf://org/model"),
        ("s3 /a", ""),
        ("dvd//a", ""),
        ("files//a", ""),
        ("models/s3:/a", ""),
        ("gs/a", ""),
        ("/gs//a", ""),
        ("C:\\models", ""),
        ("s3://a/b", ""),
        ("", ""),
    ],
)
def test_a_scheme_that_is_not_written_as_one(attach, bench, uri, meant):
    """It is still a path, as in KServe; the warning says which URI it nearly is, and says nothing of real paths."""
    assert meant_uri(uri, bench().env) == meant
    result = attach(uri or "/m")
    assert result.slugs == (["storage/scheme-misspelt"] if meant else [])
    assert [found.help for found in result.diagnostics] == ([f"did you mean {meant}?"] if meant else [])
    assert result.initializer["args"][0] == uri or not meant


@pytest.mark.parametrize(("uri", "signs"), [("://bucket/m", "://"), (":/bucket/m", ":/"), (" ;//bucket/m", ";//")])
def test_a_uri_without_the_word_in_front(attach, uri, signs):
    """The variable that held the scheme was empty: what is left is a path, and surely none."""
    (found,) = attach(uri).diagnostics
    assert found.code.slug == "storage/scheme-misspelt"
    assert f"has nothing before {signs}:" in found.message


def test_a_storage_container_may_take_what_looks_misspelt(attach):
    """Whoever declares a container for such texts means them."""
    assert attach("s3:/a/b", containers=(storage_container("any", {"regex": "s3:/a.*"}),)).slugs == []


@pytest.mark.parametrize("uri", ["https:/user:thevalue@host/m", "https//user:thevalue@host/m"])
def test_a_password_behind_a_misspelt_scheme_is_not_shown(attach, uri):
    """Neither the finding nor the line below it shows what will be a password once the URI is right."""
    found = presentable(attach(uri).diagnostics[0])
    assert found.code.slug == "storage/scheme-misspelt"
    assert "thevalue" not in found.message + found.help + showable(f"storageUri: {uri}")


def test_prefixes_of_storage_containers_are_among_the_known_forms(bench):
    """What a container brings in is listed, and meant by what is nearly it; one that is switched off brings nothing."""
    env = bench().env
    container = storage_container("any", {"prefix": "modelscope://"}, {"regex": "dvc://.*"})
    taking = evolve(env, catalog=evolve(env.catalog, storage_containers=(container,)))
    found = unknown_scheme("modelscop://a/b", taking, Origin(Layer.SPEC, "a"), ObjectRef("v1", "Kind", "ns", "a"))
    assert found.help.startswith("did you mean modelscope://? supported are ")
    assert "are modelscope://, " in found.help.removeprefix("did you mean modelscope://? ")
    off = evolve(env, catalog=evolve(env.catalog, storage_containers=(evolve(container, disabled=True),)))
    assert "modelscope://" not in supported_forms(off)


def test_an_unknown_scheme_lists_some_known_ones(attach, bench):
    """The help text names those that serve in most places, how many there are besides, and what lists them all."""
    (found,) = attach("ftp://host/m").diagnostics
    forms = supported_forms(bench().env)
    assert {"s3://", "pvc://", "hf://", "oci+native://"} <= set(forms)
    shown, rest = found.help.split(f" and {len(forms) - 5} more (kservec runtimes --uris lists them all), ")
    assert len(set(shown.removeprefix("supported are ").split(", ")).intersection(forms)) == 5
    assert shown.startswith("supported are s3://, pvc://, ")
    assert rest == "and what a ClusterStorageContainer declares"
    assert "did you mean" not in found.help
    assert len(found.help) < 200


@pytest.mark.parametrize(
    ("uri", "slugs"),
    [
        ("https://user:thevalue@host/m/x", ["storage/password-in-uri"]),
        ("https://user@host/m/x", []),
        ("https://host/m/x@1", []),
        ("hf://org/model@main:x", []),
    ],
)
def test_a_password_in_a_uri(attach, uri, slugs):
    """It is pointed out and not quoted; the download gets the URI as in KServe."""
    result = attach({"model": {"modelFormat": {"name": "sklearn"}, "storageUri": uri}})
    assert result.slugs == slugs
    assert result.initializer["args"][0] == uri
    assert "thevalue" not in "".join(d.message + d.help for d in result.diagnostics)


OWN_IMAGE = "registry.example.com/mirror/storage-initializer:v0.21.0"


@pytest.mark.parametrize(
    ("uri", "parts"),
    [
        ("https://acme.blob.core.windows.net/c", "the path"),
        ("https://acme.blob.core.windows.net/c/", ""),
        ("https://acme.blob.core.windows.net/c/m", ""),
        ("https://acme.file.core.windows.net", "the share and the path"),
        ("https://acme.file.core.windows.net/s", "the path"),
        ("https://acme.file.core.windows.net/s/m", ""),
        ("https://models.example.com", "the file"),
        ("http://models.example.com/?a=/b", "the file"),
        ("https://models.example.com/churn/", "the file"),
        ("https://models.example.com/churn.zip?sig=1", ""),
        ("hf://distilgpt2", "the owner or the model"),
        ("hf://acme/", "the model"),
        ("hf://acme/:main", "the model"),
        ("hf://acme/tiny:main", ""),
        ("hf:///tiny", "the owner or the model"),
        ("modelscope://acme", "the owner or the model"),
        ("modelscope://acme/", "the model"),
        ("modelscope://acme/tiny", ""),
        ("s3://bucket", ""),
        ("gs://bucket/", ""),
        ("pvc://claim", ""),
    ],
)
def test_a_uri_that_stops_before_the_model(attach, uri, parts):
    """KServe takes it and its download does not: the warning says what is missing, and the form that has it."""
    hubs = storage_container("hubs", {"prefix": "modelscope://"}, image=OWN_IMAGE)
    found = attach(uri, image=OWN_IMAGE, containers=(hubs,)).diagnostics
    assert [f.code.slug for f in found] == (["storage/uri-incomplete"] if parts else [])
    assert all(f"lacks {parts}:" in f.message and f.help.startswith("write it as ") for f in found)


@pytest.mark.parametrize("uri", ["https://acme.blob.core.windows.net", "https://acme.blob.core.windows.net/"])
def test_a_host_alone_that_is_refused(attach, uri):
    """What KServe refuses for the parts that are missing is told of these, and no other scheme is proposed."""
    (found,) = attach(uri).diagnostics
    assert found.code.slug == "storage/no-model"
    assert found.message.endswith("it lacks the container and the path")
    assert found.help == "write it as https://ACCOUNT.blob.core.windows.net/CONTAINER/PATH"


@pytest.mark.parametrize(
    ("uri", "lacks"),
    [
        ("https:///x", "the host"),
        ("http:///x/y", "the host"),
        ("https://:8080/x", "the host"),
        ("https://reader@/x", "the host"),
        ("gs:///models/x", "the bucket"),
    ],
)
def test_nothing_to_begin_with(attach, uri, lacks):
    """Without a host or a bucket there is no place where the rest could lie, whatever program looks for it."""
    container = storage_container("any", {"prefix": uri.partition(":")[0]}, image="i:1")
    (found,) = attach(uri, containers=(container,)).diagnostics
    assert (found.code.slug, found.message) == ("storage/no-model", f"{uri!r} names no model: it lacks {lacks}")


def test_a_password_before_no_host_is_not_shown(attach):
    """The message speaks of the URI without quoting it."""
    (found,) = attach("https://reader:thevalue@/x").diagnostics
    assert found.code.slug == "storage/no-model"
    assert "thevalue" not in found.message + found.help


@pytest.mark.parametrize(
    ("uri", "form"),
    [
        ("hf://acme/tiny/", "hf://acme/tiny"),
        ("hf://acme/tiny:main/config.json", "hf://acme/tiny:main"),
        ("modelscope://acme/tiny/master", "modelscope://acme/tiny"),
    ],
)
def test_a_uri_that_goes_on_behind_the_model(attach, uri, form):
    """A hub's models have an owner and a name; the storage initializer refuses everything else."""
    hubs = storage_container("hubs", {"prefix": "modelscope://"}, image=OWN_IMAGE)
    (found,) = attach(uri, image=OWN_IMAGE, containers=(hubs,)).diagnostics
    assert found.code.slug == "storage/uri-surplus"
    assert found.help == f"write it as {form}, with no slash behind it"
    others = storage_container("any", {"prefix": uri[:5]}, image="i:1")
    assert attach(uri, image=OWN_IMAGE, containers=(others,)).slugs == []


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("s3:// b/m", "has a space in it"),
        ("s3://b/ m", "has a space in it"),
        ("s3://b/m /v1", "has a space in it"),
        ("https://host name/m", "has a space in it"),
        ("hf://acme/tiny model", "has a space in it"),
        ("s3://b/my model", ""),
        ("file:///my model", ""),
        ("s3://b/m ", "ends with a space"),
        ("s3://b/m\n", "ends with a line break"),
        ("gs://b/\tm", "has a tab in it"),
        ("gs://b/\u00a0m", "has white space in it"),
        ("/models/m ", "ends with a space"),
        (" /models/m", "begins with a space"),
        ("/models/my model", ""),
        ("https://host/my%20model", ""),
        ("s3://b/m", ""),
    ],
)
def test_white_space_in_a_uri(attach, uri, problem):
    """It counts as a part of the name, and hardly any name has some; the download gets the URI as in KServe."""
    result = attach(uri)
    assert result.slugs == (["storage/uri-white-space"] if problem else [])
    assert [f.message.partition(",")[0] for f in result.diagnostics] == (
        [f"the URI of the model {problem}"] if problem else []
    )
    assert result.initializer["args"][0] == uri


def test_white_space_before_the_scheme(attach):
    """It makes the scheme another one, which is refused; the one that was meant is named."""
    (found,) = attach("  s3://b/m").diagnostics
    assert found.code.slug == "storage/unknown-scheme"
    assert found.help.startswith("did you mean s3://? ")


def test_a_form_that_another_scheme_would_break(attach):
    """A blob by another scheme than its own lacks nothing, and is shown the forms that there are."""
    (found,) = attach("s3://acme.blob.core.windows.net/c/m", containers=()).diagnostics
    assert found.code.slug == "storage/unknown-scheme"
    assert found.help.startswith("write it as https://ACCOUNT.blob.core.windows.net/CONTAINER/PATH")


def test_other_downloads_may_ask_for_less(attach):
    """Nobody knows what the program of another image makes of a URI."""
    container = storage_container("any", {"prefix": "hf://"}, image="i:1")
    assert attach("hf://distilgpt2", containers=(container,), image=OWN_IMAGE).slugs == []


@pytest.mark.parametrize(
    ("uri", "placeholder"),
    [
        ("${BUCKET}/a", "${BUCKET}"),
        ("s3://${BUCKET:-models}/a", "${BUCKET:-models}"),
        ("$(BUCKET)/a", "$(BUCKET)"),
        ("$BUCKET/a", "$BUCKET"),
        ("{{bucket}}/a", "{{bucket}}"),
        ("pvc://claim/{{ .Values.x }}", "{{ .Values.x }}"),
        ('oci://host/m:{{ index .Values "x" }}', '{{ index .Values "x" }}'),
        ("{bucket}/a", "{bucket}"),
        ("%(bucket)s/a", "%(bucket)s"),
        ("s3://<bucket>/<path/to/model>", "<bucket>"),
        ("s3://bucket/${{ model }}", "${{ model }}"),
        ("s3://bucket/{% model %}", "{% model %}"),
        ("s3://bucket/#{model}", "#{model}"),
        ("s3://bucket/{}", "{}"),
        ("s3://bucket/[model]", "[model]"),
        ("s3://bucket/[[ model ]]", "[[ model ]]"),
        ("s3://bucket/((model))", "((model))"),
        ("s3://bucket/$model/v1", "$model"),
        ("%MODEL%", "%MODEL%"),
        ("s3://%BUCKET%/a", "%BUCKET%"),
        ("s3://%s/a", "%s"),
        ("s3://bucket/__MODEL__", "__MODEL__"),
        ("s3://bucket/@model@", "@model@"),
        ("s3://bucket/@@model@@", "@@model@@"),
        ("s3://bucket/#MODEL#", "#MODEL#"),
        ("s3://YOUR_BUCKET/a", "YOUR_BUCKET"),
        ("s3://bucket/changeme", "changeme"),
        ("s3://bucket/REPLACE-ME/a", "REPLACE-ME"),
        ("s3://bucket/TODO", "TODO"),
        ("s3://undefined/a", "undefined"),
        ("s3://bucket/None/a", "None"),
        ("oci://host/model:null", "null"),
        ("s3://bucket/a__b/__init__/exchange-me/TODOs", ""),
        ("s3://bucket/nullable/None-1", ""),
        ("s3://bucket/a_$folder$", ""),
        ("https://host/%C3%A4%2Fa%20b%2F", ""),
        ("https://[2001:db8::1]:8080/a", ""),
        ("oci://host/m:1@sha256:0f1d6b81d8b0e5ea4ab0e5b7d1ec1b9b9e5bf4a6de9d4e6f0a8bf2b4de1e77aa", ""),
        ("s3://bucket/price$/a", ""),
        ("s3://bucket/a{1", ""),
        ("s3://bucket/[v1]/a", ""),
        ("s3://bucket/[V1.2]/[MODEL]", "[MODEL]"),
        ("s3://bucket/[v]/a", "[v]"),
        ("s3://[your-bucket]/a", "[your-bucket]"),
        ("https://host/f?x={a}", ""),
        ("https://host/f?x[]=1&y[key]={a}", ""),
        ("https://host/f?x=${A}", "${A}"),
        ("https://host/f?x=<a>", "<a>"),
        ("https://host/{b}/f?x={a}", "{b}"),
        ("s3://bucket/f?x={a}", "{a}"),
        ("https://host/m%20(1).zip", ""),
        ("/mnt/a<b", ""),
    ],
)
def test_a_placeholder_that_nothing_fills_in(attach, uri, placeholder):
    """The template was never filled in, so the download asks for just these characters: a warning says so."""
    found = attach(uri).diagnostics
    assert [f.code.slug for f in found] == (["storage/unfilled-placeholder"] if placeholder else [])
    assert [f.message for f in found] == (
        [f"nothing fills in {placeholder!r} in the URI of the model"] if placeholder else []
    )


@pytest.mark.parametrize("given", [{"env": [{"name": "BUCKET", "value": "s3://b"}]}, {"envFrom": [{"secretRef": {}}]}])
def test_a_variable_of_the_download_is_filled_in(attach, given):
    """Kubernetes puts variables of a container into its arguments, and those of a storage container count."""
    container = storage_container("any", {"prefix": "$(BUCKET)"}, **given)
    assert attach("$(BUCKET)/a", containers=(container,)).slugs == []
    slugs = ["storage/unfilled-placeholder"]
    assert attach("$(BUCKET)/$(OTHER)", containers=(container,)).slugs == (slugs if "env" in given else [])


def test_variables_that_come_from_credentials_are_filled_in(attach):
    """The Secret of the account gives the download its variables."""
    keys = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    given = {"accounts": (account("reader", "aws"),), "secrets": (secret("aws", *keys),)}
    uri = "s3://$(AWS_ACCESS_KEY_ID)-models/a"
    predictor = {"model": {"modelFormat": {"name": "sklearn"}, "storageUri": uri}, "serviceAccountName": "reader"}
    assert attach(predictor, **given).slugs == []
    assert attach(uri).slugs == ["storage/unfilled-placeholder"]


def test_a_mount_is_told_nothing_by_variables(attach):
    """The path inside a claim is no argument: it is taken as it is written."""
    assert attach("pvc://claim/$(VERSION)").slugs == ["storage/unfilled-placeholder"]


def test_what_flux_fills_in_is_none(bench):
    """The variables that a project declares for Flux are replaced when the objects are applied."""
    env = bench().env
    assert unfilled("s3://${region}/a", None, env) == "${region}"
    later = evolve(env, additions=Additions(filled_later=("region",)))
    assert unfilled("s3://${region}/a", None, later) == ""
    assert unfilled("s3://${region}/${name}", None, later) == "${name}"


def test_two_places_for_one_model(attach):
    """A storageUri and a storage.path together are refused, as in KServe."""
    model = {"modelFormat": {"name": "sklearn"}, "storageUri": "s3://b/m", "storage": {"key": "k", "path": "m"}}
    assert attach({"model": model}).slugs == ["storage/two-places"]


def test_an_empty_uri_is_said(attach):
    """A custom container with an empty STORAGE_URI gets what KServe gives it, and a warning."""
    container = {"name": "kserve-container", "image": "i:1", "env": [{"name": "STORAGE_URI", "value": ""}]}
    result = attach({"containers": [container]})
    assert result.initializer["args"] == ["", "/mnt/models"]
    assert result.slugs == ["storage/empty-uri"]


def test_plugs_refuse_a_second_owner_of_a_prefix(plugs):
    """Two schemes that claim one prefix are a mistake that is found when the program starts."""
    twin = evolve(plugs.scheme("s3://b"), name="twin")
    with pytest.raises(ValueError, match="s3://"):
        unambiguous(evolve(plugs, schemes=(*plugs.schemes, twin)))


def test_the_settings_of_secrets(plugs):
    """The keys that the reader of Secrets may let through are these, and no key that holds a credential."""
    assert plugs.secret_settings == {
        "AWS_CA_BUNDLE", "AWS_CA_BUNDLE_CONFIGMAP", "AWS_DEFAULT_REGION", "S3_ENDPOINT", "S3_USER_VIRTUAL_BUCKET",
        "S3_USE_ACCELERATE", "S3_USE_HTTPS", "S3_VERIFY_SSL", "awsAnonymousCredential", "https-host",
    }  # fmt: skip


@pytest.mark.parametrize("uri", ["models:/fraud/1", "runs:/4f1/model", "dbfs:/models/fraud", "mlflow-artifacts:/1/a"])
def test_references_of_other_tools(attach, uri):
    """What a registry of models calls so is a path that does not exist; the warning asks for where the files lie."""
    (found,) = attach(uri).diagnostics
    assert found.code.slug == "storage/scheme-misspelt"
    assert f"begins with '{uri.partition('/')[0]}/'" in found.message
    assert found.help == "write where the files of the model lie, such as s3://BUCKET/PATH"


@pytest.mark.parametrize(
    ("uri", "meant"),
    [
        ("hf://acme/tiny@main", "hf://acme/tiny:main"),
        ("hf://acme/tiny@v1.0", "hf://acme/tiny:v1.0"),
        ("hf://acme/tiny:a@b", ""),
        ("hf://reader@acme/tiny", ""),
        ("s3://acme/tiny@main", ""),
    ],
)
def test_a_revision_behind_another_sign(attach, uri, meant):
    """A revision stands behind a colon; names on a hub have no other sign that could be before one."""
    found = attach(uri, image=OWN_IMAGE).diagnostics
    said = [(d.code.slug, d.help) for d in found]
    assert said == ([("storage/uri-revision", f"did you mean {meant}?")] if meant else [])


def test_a_revision_of_a_pull_request(attach):
    """It has slashes, which the storage initializer does not take: the commit has a name without."""
    (found,) = attach("hf://acme/tiny:refs/pr/3", image=OWN_IMAGE).diagnostics
    assert found.code.slug == "storage/uri-surplus"
    assert "hf://acme/tiny:COMMIT" in found.help


@pytest.mark.parametrize(
    ("uri", "meant"), [("ms://acme/tiny", "modelscope"), ("huggingface://acme/tiny", "hf"), ("HuggingFace://a/b", "hf")]
)
def test_schemes_by_names_of_other_tools(attach, uri, meant):
    """What other tools call a scheme does not resemble what KServe calls it."""
    (found,) = attach(uri).diagnostics
    assert found.code.slug == "storage/unknown-scheme"
    assert found.help.startswith(f"did you mean {meant}://? ")
