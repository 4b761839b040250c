"""Maintainers' commands: build the site, notebooks and PDF; check links, data and versions."""
