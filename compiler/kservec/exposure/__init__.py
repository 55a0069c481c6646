"""Ways of letting a service be reached: one file each."""
