"""The site of an environment: static pages for people who look at it before it is deployed. Pure."""
