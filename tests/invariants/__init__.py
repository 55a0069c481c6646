"""What holds for everything that kservec writes, whatever it was made of; each is shown to be able to fail."""
