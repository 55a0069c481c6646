"""What a service is made of: runtimes, components, canaries, workers, labels and annotations."""
