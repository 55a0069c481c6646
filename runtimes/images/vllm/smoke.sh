#!/usr/bin/env bash
# Starts an image of vLLM as a cluster does, by scripts/delivery/smoke_image.sh, but without a GPU: the entry point says
# what it would run and refuses what cannot work, and vLLM is the version that the label says.
set -euo pipefail

image=$1
read -ra options <<< "$SMOKE_OPTIONS"
options+=(--network none --env CUDA_VISIBLE_DEVICES=0)

said=$(docker run "${options[@]}" "$image" --dry-run hf://acme/chat:v1 2>&1)
grep --quiet 'would run vllm serve acme/chat --revision=v1$' <<< "$said"

status=0
docker run "${options[@]}" "$image" acme/chat --ssl-certfile=/tls.crt || status=$?
[[ $status == 78 ]] || { echo "$image: half of a key pair ends with status $status" >&2; exit 1; }

label=$(docker image inspect --format '{{index .Config.Labels "dev.kservec.vllm.version"}}' "$image")
read_version="import importlib.metadata as m; print(m.version('vllm').partition('+')[0])"
version=$(docker run "${options[@]}" --entrypoint python3 "$image" -c "$read_version")
[[ $version == "$label" ]] || { echo "$image: it has vLLM $version, and says $label" >&2; exit 1; }
