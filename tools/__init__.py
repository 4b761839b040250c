"""Commands of a maintainer: build the site, notebooks and PDF; check links, data and versions."""
