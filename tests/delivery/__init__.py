"""What is delivered: the wheel and the sdist, the images, and the workflows that build, sign and publish them."""
