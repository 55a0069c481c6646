"""YAML of tests, by libyaml: what is the same by PyYAML's own reader and writer takes ten times as long there.

Where a test is about how YAML is read or written, it names the reader or writer itself.
"""

from __future__ import annotations

from functools import partial

import yaml

load = partial(yaml.load, Loader=yaml.CSafeLoader)
load_all = partial(yaml.load_all, Loader=yaml.CSafeLoader)
dump = partial(yaml.dump, Dumper=yaml.CSafeDumper)
dump_all = partial(yaml.dump_all, Dumper=yaml.CSafeDumper)
