#!/usr/bin/env bash
# What the jobs of the workflow of the images need to know, as its outputs: the images, those that can be rebuilt byte for
# byte, the version, and the time of the commit.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
images=$(python3 "$here/images.py" matrix)
exact=$(python3 "$here/images.py" matrix --exact)
version=$(python3 "$here/versions.py" show)
epoch=$(git -C "$here" log -1 --format=%ct)
printf '%s=%s\n' images "$images" exact "$exact" version "$version" epoch "$epoch"
