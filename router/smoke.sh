#!/usr/bin/env bash
# Starts the image of the router as a cluster does, by scripts/delivery/smoke_image.sh: it takes a graph, refuses a wrong
# one, and becomes healthy.
set -euo pipefail

image=$1
read -ra options <<< "$SMOKE_OPTIONS"
graph='{"nodes":{"root":{"routerType":"Sequence","steps":[{"serviceUrl":"http://127.0.0.1:9/"}]}}}'

docker run "${options[@]}" --network none "$image" --check --graph-json "$graph"
if docker run "${options[@]}" --network none "$image" --check --graph-json '{"nodes":{}}'; then
  echo "$image: a graph without a root is taken" >&2
  exit 1
fi

name="kservec-smoke-$$"
docker run "${options[@]}" --network none --detach --name "$name" "$image" --graph-json "$graph" > /dev/null
trap 'docker stop --time 5 "$name" > /dev/null' EXIT
for _ in {1..30}; do
  if docker exec "$name" python -m kservec_router.health; then exit 0; fi
  sleep 1
done
echo "$image: it does not become healthy" >&2
docker logs "$name" >&2
exit 1
