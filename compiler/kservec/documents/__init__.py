"""From documents to the values that all compiles of a run share: catalog, configuration, cluster.

Each module reads one family of kinds. None of them knows passes, plugs or units.
"""
