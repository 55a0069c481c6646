"""What a workflow tries with an image that it has built, with a stand-in for docker that runs the entry point here."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .programs import IMAGES, Place, write_program
from .versions import read

DOCKER = """
case "$1" in
image) echo "$LABEL" ;;
*)
  shift
  while [ $# -gt 0 ]; do
    case "$1" in
    --env) export "$2"; shift 2 ;;
    --network) shift 2 ;;
    --entrypoint) echo "$VLLM"; exit ;;
    -*) shift ;;
    *) shift; exec kservec-vllm "$@" ;;
    esac
  done
  ;;
esac
"""


def smoke(place: Place, label: str) -> subprocess.CompletedProcess[str]:
    """Try the image that the stand-in runs."""
    write_program(place.programs / "docker", DOCKER)
    environment = place.environment({"SMOKE_OPTIONS": "--rm --read-only", "LABEL": label, "VLLM": read()["vllm"]})
    script = [str(Path(IMAGES / "smoke.sh")), "try/vllm-cpu:1"]
    return subprocess.run(script, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own


def test_an_image_is_tried(place: Place) -> None:
    """It says what it would run, refuses what cannot work, and has the vLLM that its label says."""
    done = smoke(place, read()["vllm"])
    assert done.returncode == 0, done.stderr
    assert smoke(place, "0.1.0").returncode == 1
