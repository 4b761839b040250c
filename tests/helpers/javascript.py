"""Evaluation of an explorer's JavaScript in Node.js."""

import json
import shutil
import subprocess

import pytest


def javascript(explorer, expression):
    """Return the value of an expression in an explorer's module, with ordinary spaces."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node.js on this machine")
    code = f"{explorer._esm}\nconsole.log(JSON.stringify({expression}));"
    ran = subprocess.run(
        [node, "--input-type=module", "-"], input=code, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.replace("\u00a0", " "))
