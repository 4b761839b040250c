"""The Sphinx extensions of the site."""
