"""Texts that mean something to whatever shows them, in every place where a spec takes a text."""

from __future__ import annotations

import json

MARK = "pwned"
TEXTS = {
    "a command of GitHub": f"::error::{MARK}",
    "a command in a line of its own": f"\n::stop-commands::{MARK}",
    "a command after a carriage return": f"x\r\n::set-output name=a::{MARK}",
    "a command of the old kind": f"\n##[error]{MARK}",
    "a command of Azure": f"\n##vso[task.setvariable variable=a]{MARK}",
    "a terminal's title": f"\x1b[2J\x1b]0;{MARK}\x07",
    "a terminal's command in one byte": f"\x9b31m{MARK}",
    "text from right to left": f"\u202e{MARK}",
    "an isolate": f"\u2066{MARK}\u2069",
    "a line separator": f"a\u2028::error::{MARK}",
    "HTML": f"<script>{MARK}</script>",
    "the end of CDATA": f"]]><{MARK}/>",
    "Markdown": f"`{MARK}`</details> ![x](https://example.com/{MARK}) @{MARK}",
    "the end of a block": f"\n```\n{MARK}\n",
    "an expression of GitHub": f"${{{{ {MARK} }}}}",
    "an expression of Jinja": f"{{% include '/etc/{MARK}' %}}",
}
SPEC = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: fraud
  namespace: payments
  labels: {{team: {label}}}
  annotations:
    serving.kserve.io/deploymentMode: Standard
    serving.kserve.io/autoscalerClass: {scaler}
    note: {annotation}
spec:
  predictor:
    model:
      modelFormat: {{name: {format}}}
      runtime: {runtime}
      storageUri: {uri}
      args: [{argument}]
      env: [{{name: NOTE, value: {variable}}}]
"""
FINE = {
    "label": "risk",
    "scaler": "hpa",
    "annotation": "fine",
    "format": "sklearn",
    "runtime": "kserve-sklearnserver",
    "uri": "s3://models/fraud/v7",
    "argument": "--verbose",
    "variable": "fine",
}


def spec(place: str, text: str) -> str:
    """A spec with a text in one of its places."""
    return SPEC.format(**{name: json.dumps(text if name == place else value) for name, value in FINE.items()})
