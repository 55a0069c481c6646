#!/usr/bin/env bash
# Installs the distribution's Chromium for `make browser` where there is no browser and apt may be used.
set -euo pipefail

for name in chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing chromium"
  (apt-get update && apt-get install -y --no-install-recommends chromium) >/dev/null 2>&1 \
    || echo "chromium could not be installed: no report will be looked at"
else
  echo "no browser here, and none can be installed: no report will be looked at"
fi
