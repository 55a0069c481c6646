"""The version, and the KServe version whose behaviour the compiler reproduces. Read without importing anything else."""

__version__ = "0.1.0"
KSERVE_PROFILE = "0.21"
