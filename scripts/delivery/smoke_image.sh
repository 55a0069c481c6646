#!/usr/bin/env bash
# Tries an image that was just built and is loaded into docker: what it says of itself, and what it does when it is
# started as a cluster starts it. What that is differs; the script smoke.sh beside a Dockerfile knows, if there is one.
#
#   scripts/delivery/smoke_image.sh IMAGE DOCKERFILE
set -euo pipefail

image=$1
dockerfile=$2

fail() {
  echo "$image: $1" >&2
  exit 1
}

user=$(docker image inspect --format '{{.Config.User}}' "$image")
[[ ${user%%:*} =~ ^[1-9][0-9]*$ ]] || fail "it runs as '$user', which is no number other than 0"
for label in source version revision base.name base.digest; do
  name="org.opencontainers.image.$label"
  value=$(docker image inspect --format "{{index .Config.Labels \"$name\"}}" "$image")
  [[ -n $value && $value != unknown ]] || fail "the label $name is not set"
done
[[ $(docker image inspect --format '{{len .Config.Entrypoint}}' "$image") -gt 0 ]] || fail "it has no entry point"

export SMOKE_OPTIONS="--rm --read-only --tmpfs /tmp --user 12345:0 --cap-drop ALL --security-opt no-new-privileges"
smoke="$(dirname "$dockerfile")/smoke.sh"
if [[ -x $smoke ]]; then "$smoke" "$image"; fi
echo "$image: fine"
