"""What asks other machines: registries of images and hubs of models. `kservec lock --update` alone comes here."""
