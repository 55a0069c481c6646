"""ClusterStorageContainer v1alpha1 (serving.kserve.io), KServe 0.21.

KServe: pkg/apis/serving/v1alpha1/storage_container_types.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kservec.spec.base import EMPTY, Json, Model

INIT_CONTAINER = "initContainer"
LOCAL_MODEL_JOB = "localModelDownloadJob"


class SupportedUriFormat(Model):
    """A prefix, or an unanchored regular expression, of URIs."""

    prefix: str = ""
    regex: str = ""


class StorageContainerSpec(Model):
    """A container that downloads models."""

    container: Mapping[str, Json] = EMPTY
    supported_uri_formats: Sequence[SupportedUriFormat] = ()
    workload_type: str = INIT_CONTAINER
    supports_multi_model_download: bool = False
