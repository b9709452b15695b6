"""One module a strategy. They share `base` and never import each other."""
