"""The placeholder in texts of the project file."""

from __future__ import annotations

PLACE = "{env}"
"""What stands for the name of an environment."""
