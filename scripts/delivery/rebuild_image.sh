#!/usr/bin/env bash
# Builds an image of this checkout once more, and compares it with one that was built elsewhere: the same commit must give
# the same digest. Needs buildx with a builder for all platforms of the image.
#
#   scripts/delivery/rebuild_image.sh NAME sha256:DIGEST
set -euo pipefail

name=$1
pushed=$2
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
version=$(python3 "$here/versions.py" show)
command=$(python3 "$here/images.py" command "$name" --version "$version" --folder "$folder")
echo "$command"
bash -euo pipefail -c "$command"
rebuilt=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["containerimage.digest"])' "$folder/$name.json")
if [[ $rebuilt != "$pushed" ]]; then
  echo "$name: rebuilt, the digest is $rebuilt, and $pushed was pushed" >&2
  exit 1
fi
echo "$name: $rebuilt, as it was pushed"
