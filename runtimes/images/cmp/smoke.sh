#!/usr/bin/env bash
# Starts kservec in the image of the plugin, by scripts/delivery/smoke_image.sh: it compiles the examples as any user, with
# neither a network nor a place to write to. Argo CD's own server, the entry point, is not in the image.
set -euo pipefail

image=$1
read -ra options <<< "$SMOKE_OPTIONS"
top=$(cd "$(dirname "$0")/../../.." && pwd)
options+=(--network none --volume "$top/examples:/specs:ro" --entrypoint kservec)

docker run "${options[@]}" "$image" --version
made=$(docker run "${options[@]}" "$image" build /specs/services --platform /specs/platform)
grep --quiet '^kind: Deployment$' <<< "$made"
