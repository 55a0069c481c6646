"""Print how many nodes of a Ray cluster are alive. Run on its own, for importing Ray takes long and leaves threads."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def main(address: str) -> None:
    """Ask the cluster at an address."""
    ray: Any = importlib.import_module("ray")
    ray.init(address=address, logging_level="error", log_to_driver=False)
    sys.stdout.write(f"{sum(1 for node in ray.nodes() if node['Alive'])}\n")


if __name__ == "__main__":
    main(sys.argv[1])
