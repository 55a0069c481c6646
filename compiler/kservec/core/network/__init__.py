"""Who may talk to whom: addresses, ports and rules of NetworkPolicies."""
