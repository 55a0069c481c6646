"""Credentials: which Secrets count, what a container gets from them, and that nothing secret leaves them."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kservec.api import Target, compile_text
from kservec.core.models.credentials import merged_env
from kservec.io.reading import File

from .conftest import account, secret

S3_URI = "s3://acme-models/churn"
KEY_PAIR = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
S3_NAMES = {"AWS_ACCESS_KEY_ID": "creds/AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY": "creds/AWS_SECRET_ACCESS_KEY"}


def predictor(uri=S3_URI, name="scorer", **more):
    """A predictor that runs as a ServiceAccount."""
    return {"serviceAccountName": name, "model": {"modelFormat": {"name": "sklearn"}, "storageUri": uri}, **more}


def equipped(attach, *secrets, **more):
    """A predictor whose ServiceAccount lists the Secrets."""
    names = tuple(s.name for s in secrets)
    return attach(predictor(), secrets=secrets, accounts=(account("scorer", *names),), **more)


@pytest.mark.parametrize(
    ("keys", "env"),
    [
        (KEY_PAIR, S3_NAMES),
        (("awsSecretAccessKey",), {}),
        (
            ("AZURE_CLIENT_ID",),
            {"AZURE_TENANT_ID": "creds/AZURE_TENANT_ID", "AZURE_CLIENT_ID": "creds/AZURE_CLIENT_ID"},
        ),
        (
            ("AZ_CLIENT_ID", "AZ_CLIENT_SECRET", "AZURE_CLIENT_ID"),
            {
                "AZURE_TENANT_ID": "creds/AZURE_TENANT_ID",
                "AZURE_CLIENT_ID": "creds/AZ_CLIENT_ID",
                "AZURE_CLIENT_SECRET": "creds/AZ_CLIENT_SECRET",
            },
        ),
        (("AZURE_STORAGE_ACCESS_KEY",), {"AZURE_STORAGE_ACCESS_KEY": "creds/AZURE_STORAGE_ACCESS_KEY"}),
        (("HF_TOKEN",), {"HF_TOKEN": "creds/HF_TOKEN"}),
        (("MODELSCOPE_API_TOKEN",), {"MODELSCOPE_API_TOKEN": "creds/MODELSCOPE_API_TOKEN"}),
        (("HF_TOKEN", *KEY_PAIR), S3_NAMES),
        (("AZURE_STORAGE_ACCESS_KEY", "HF_TOKEN"), {"AZURE_STORAGE_ACCESS_KEY": "creds/AZURE_STORAGE_ACCESS_KEY"}),
        ((".dockerconfigjson",), {}),
    ],
)
def test_the_keys_of_a_secret_tell_its_kind(attach, keys, env):
    """The first kind of the ladder that recognises a key gives its variables, by reference."""
    assert equipped(attach, secret("creds", *keys)).env == env


@pytest.mark.parametrize(
    ("key", "volume", "path", "env"),
    [
        (
            "gcloud-application-credentials.json",
            "user-gcp-sa",
            "/var/secrets/",
            {"GOOGLE_APPLICATION_CREDENTIALS": "/var/secrets/gcloud-application-credentials.json"},
        ),
        ("HDFS_NAMENODE", "hdfs-secrets", "/var/secrets/kserve-hdfscreds", {}),
    ],
)
def test_files_of_a_secret_are_mounted(attach, key, volume, path, env):
    """Key files become a volume of the pod and a read-only mount of the download container alone."""
    result = equipped(attach, secret("creds", key))
    assert {"name": volume, "mountPath": path, "readOnly": True} in result.initializer["volumeMounts"]
    assert {"name": volume, "secret": {"secretName": "creds"}} in result.pod["volumes"]
    assert result.env == env
    assert all(m["name"] != volume for m in result.server["volumeMounts"])


def test_headers_go_by_reference(attach):
    """The headers of a host are referred to, where KServe writes them into the pod."""
    creds = secret("creds", "headers", settings={"https-host": "models.example.com"})
    assert equipped(attach, creds).env == {"models.example.com-headers": "creds/headers"}


def test_a_host_without_headers_gives_nothing(attach):
    """A Secret that names a host and has no headers adds no variable."""
    assert equipped(attach, secret("creds", settings={"https-host": "models.example.com"})).env == {}


@pytest.mark.parametrize(
    ("annotations", "plain", "env"),
    [
        ({}, {}, {}),
        ({"s3-endpoint": "minio:9000"}, {}, {"S3_ENDPOINT": "minio:9000", "AWS_ENDPOINT_URL": "https://minio:9000"}),
        (
            {"s3-endpoint": "minio:9000", "s3-usehttps": "0"},
            {},
            {"S3_USE_HTTPS": "0", "S3_ENDPOINT": "minio:9000", "AWS_ENDPOINT_URL": "http://minio:9000"},
        ),
        (
            {"s3-endpoint": " HTTP://minio:9000 ", "s3-usehttps": "1"},
            {},
            {"S3_USE_HTTPS": "0", "S3_ENDPOINT": "minio:9000", "AWS_ENDPOINT_URL": "HTTP://minio:9000"},
        ),
        (
            {"s3-endpoint": "https://minio:9000", "s3-usehttps": "0"},
            {},
            {"S3_USE_HTTPS": "1", "S3_ENDPOINT": "minio:9000", "AWS_ENDPOINT_URL": "https://minio:9000"},
        ),
        (
            {"s3-endpoint": "minio://store:9000"},
            {},
            {"S3_ENDPOINT": "minio://store:9000", "AWS_ENDPOINT_URL": "https://minio://store:9000"},
        ),
        (
            {"s3-region": "eu-1"},
            {"AWS_DEFAULT_REGION": "us-1", "S3_VERIFY_SSL": "0"},
            {"S3_VERIFY_SSL": "0", "AWS_DEFAULT_REGION": "eu-1"},
        ),
        ({"s3-region": ""}, {"AWS_DEFAULT_REGION": "us-1"}, {}),
        ({"s3-usehttps": "1"}, {}, {}),
        (
            {"s3-useanoncredential": "true", "s3-usevirtualbucket": "1", "s3-useaccelerate": "1"},
            {},
            {"awsAnonymousCredential": "true", "S3_USER_VIRTUAL_BUCKET": "1", "S3_USE_ACCELERATE": "1"},
        ),
    ],
)
def test_settings_of_s3(attach, annotations, plain, env):
    """Annotations come before the Secret's own settings, and a URL scheme in the endpoint decides about TLS."""
    keyed = {f"serving.kserve.io/{k}": v for k, v in annotations.items()}
    result = equipped(attach, secret("creds", *KEY_PAIR, annotations=keyed, settings=plain))
    assert list(result.env.items()) == [*S3_NAMES.items(), *env.items()]


def test_an_iam_role_brings_the_settings_of_its_account(attach):
    """An account with a role needs no Secret; its annotations give the settings."""
    annotations = {"eks.amazonaws.com/role-arn": "arn:aws:iam::0:role/r", "serving.kserve.io/s3-region": "eu-1"}
    result = attach(predictor(), accounts=(account("scorer", annotations=annotations),))
    assert result.env == {"AWS_DEFAULT_REGION": "eu-1"}
    assert result.slugs == []


def test_the_annotation_names_the_only_secret(attach):
    """The Secret that the annotation names counts instead of those that the account lists."""
    result = attach(
        predictor(),
        secrets=(secret("listed", "HF_TOKEN"), secret("named", *KEY_PAIR)),
        accounts=(account("scorer", "listed"),),
        metadata={"annotations": {"serving.kserve.io/storageSecretName": "named"}},
    )
    assert result.env == {name: f"named/{name}" for name in KEY_PAIR}


def test_the_default_account_counts_unasked(attach):
    """Without serviceAccountName the account `default` gives the credentials."""
    result = attach(S3_URI, secrets=(secret("creds", *KEY_PAIR),), accounts=(account("default", "creds"),))
    assert result.env == S3_NAMES


@pytest.mark.parametrize(("name", "slugs"), [("", []), ("default", []), ("ghost", ["serviceaccount/not-declared"])])
def test_an_undeclared_account(attach, name, slugs):
    """Pods of an undeclared account get no credentials, and a warning says so unless it is the default one."""
    result = attach(predictor(name=name))
    assert result.env == {}
    assert result.slugs == slugs


def test_an_undeclared_secret_of_an_account(attach):
    """A Secret that the account lists and nothing declares stops the compile at the service that uses the account."""
    result = attach(predictor(), accounts=(account("scorer", "nowhere"),))
    (found,) = result.diagnostics
    assert found.code.slug == "secret/not-declared"
    assert "ml/nowhere" in found.message
    assert found.span is not None
    assert found.span.file == "isvc.yaml"


def test_an_undeclared_secret_of_an_annotation(attach):
    """A Secret that an annotation names and nothing declares is reported at the annotation."""
    annotations = {"serving.kserve.io/storageSecretName": "nowhere"}
    result = attach(predictor(), accounts=(account("scorer"),), metadata={"annotations": annotations})
    (found,) = result.diagnostics
    assert found.code.slug == "secret/not-declared"
    assert found.span is not None
    assert found.span.line == 8


def test_an_unknown_setting(attach):
    """A setting that a Secret holds and nobody declares is an error: without it the wrong server would be asked."""
    result = equipped(attach, secret("creds", *KEY_PAIR, "S3_ENDPOINT"))
    assert result.slugs == ["secret/setting-unknown"]


def test_unknown_keys(attach):
    """A Secret whose keys are not all known must show its kind by those that are."""
    assert equipped(attach, secret("creds", complete=False)).slugs == ["secret/keys-not-declared"]
    assert equipped(attach, secret("creds", *KEY_PAIR, complete=False)).env == S3_NAMES


def test_two_s3_secrets(attach):
    """Of two S3 Secrets the keys are the first one's and the settings the last one's, as in KServe, with a warning."""
    annotation = "serving.kserve.io/s3-endpoint"
    first = secret("a", *KEY_PAIR, annotations={annotation: "one:9000"})
    second = secret("b", *KEY_PAIR, annotations={annotation: "two:9000"})
    result = equipped(attach, first, second)
    assert {name: result.env[name] for name in KEY_PAIR} == {name: f"a/{name}" for name in KEY_PAIR}
    assert result.env["S3_ENDPOINT"] == "two:9000"
    assert result.slugs == ["secret/overlap"]


@pytest.mark.parametrize("key", ["gcloud-application-credentials.json", "AZURE_CLIENT_ID", "HF_TOKEN"])
def test_two_secrets_of_a_kind_leave_no_name_twice(attach, key):
    """Variables and mounts of two Secrets of one kind occur once each, with a warning; KServe repeats them."""
    result = equipped(attach, secret("a", key), secret("b", key))
    names = [e["name"] for e in result.initializer["env"]]
    paths = [m["mountPath"] for m in result.initializer["volumeMounts"]]
    volumes = [v["name"] for v in result.pod["volumes"]]
    assert all(len(x) == len(set(x)) for x in (names, paths, volumes))
    assert result.slugs.count("secret/overlap") == 1


@pytest.mark.parametrize(
    ("keys", "missing"),
    [(("AZURE_CLIENT_ID",), ["AZURE_TENANT_ID"]), (("AZURE_CLIENT_ID", "AZURE_TENANT_ID"), []), (KEY_PAIR[:1], [])],
)
def test_a_key_that_is_known_to_be_missing(attach, keys, missing):
    """KServe refers to some keys that a Secret need not have; the pods would never start, which is a warning."""
    result = equipped(attach, secret("a", *keys))
    found = [d for d in result.diagnostics if d.code.slug == "secret/key-missing"]
    assert [key for key in missing if any(f"no key {key}" in d.message for d in found)] == missing
    assert len(found) == len(missing)


def test_merged_env_keeps_sources_and_overwrites_values():
    """A kind that overwrites changes values, and never gives a variable a value beside its source."""
    reference = {"name": "K", "valueFrom": {"secretKeyRef": {"name": "a", "key": "k"}}}
    env = [reference, {"name": "V", "value": "1"}]
    added = ({"name": "V", "value": "2"}, {"name": "K", "value": "x"}, {"name": "N", "value": "3"})
    assert merged_env(env, added, True) == [reference, {"name": "V", "value": "2"}, {"name": "N", "value": "3"}]
    assert merged_env(env, added[1:2], False) == [{"name": "K", "value": "x"}, {"name": "V", "value": "1"}]


SERVICE = {
    "apiVersion": "serving.kserve.io/v1beta1",
    "kind": "InferenceService",
    "metadata": {
        "name": "churn",
        "namespace": "ml",
        "annotations": {"serving.kserve.io/deploymentMode": "Standard"},
    },
}
PLAIN = {"https-host": "models.example.com", "AWS_DEFAULT_REGION": "eu-1"}
SECRET_KEYS = (
    *KEY_PAIR, "awsAccessKeyID", "awsSecretAccessKey", "gcloud-application-credentials.json", "AZURE_CLIENT_ID",
    "AZURE_CLIENT_SECRET", "AZ_CLIENT_SECRET", "AZURE_STORAGE_ACCESS_KEY", "AZURE_ACCESS_TOKEN", "headers",
    "HDFS_NAMENODE", "KERBEROS_KEYTAB", "HF_TOKEN", "MODELSCOPE_API_TOKEN", "other",
)  # fmt: skip
hidden = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=20).map(
    lambda text: f"q7#{text}#7q"
)


@settings(max_examples=60, deadline=None)
@given(
    content=st.dictionaries(st.sampled_from(SECRET_KEYS), hidden, min_size=1, max_size=8),
    plain=st.sets(st.sampled_from(sorted(PLAIN))),
    entry=hidden,
    encoded=st.booleans(),
    by_key=st.booleans(),
)
def test_no_secret_value_leaves_its_secret(content, plain, entry, encoded, by_key):
    """Whatever is in the Secrets of a service, none of it is in the output or in a diagnostic."""
    texts = {**content, **{k: PLAIN[k] for k in plain}}
    body = {k: base64.b64encode(v.encode()).decode() for k, v in texts.items()} if encoded else texts
    entries = {"warehouse": json.dumps({"type": "s3", "bucket": "acme", "secret_access_key": entry})}
    documents = [
        {**SERVICE, "spec": {"predictor": predictor() if not by_key else keyed()}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "creds", "namespace": "ml"},
         ("data" if encoded else "stringData"): body},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "storage-config", "namespace": "ml"},
         "stringData": entries},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "scorer", "namespace": "ml"},
         "secrets": [{"name": "creds"}]},
    ]  # fmt: skip
    text = "\n---\n".join(json.dumps(d, ensure_ascii=False) for d in documents)
    result = compile_text(text, target=Target(platform=[File("platform.yaml", b"")]))
    shown = result.yaml + repr(result.diagnostics)
    assert not [v for v in (*content.values(), entry) if v in shown or json.dumps(v)[1:-1] in shown]
    assert result.yaml


def keyed():
    """A predictor whose model lies in a storage that a key names."""
    storage = {"key": "warehouse", "path": "churn"}
    return {"serviceAccountName": "scorer", "model": {"modelFormat": {"name": "sklearn"}, "storage": storage}}
