"""Tests that without bubblewrap a message says what to install or where to grade."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.instructor.grading import bwrap_command
from autograder.instructor.grading.bwrap_command import SandboxError
from autograder.instructor.grading.sandbox_launcher import Sandbox
from tests.conftest import needs_bubblewrap
from tests.grading.test_sandbox import TIMES, needs_fork, shown


@needs_fork
def test_without_bubblewrap_the_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(bwrap_command.shutil, "which", lambda name: None)
    monkeypatch.setattr(bwrap_command.sys, "platform", "linux")
    with pytest.raises(SandboxError, match=r"install it .*apt install bubblewrap.*--unsafe"):
        Sandbox()


@needs_bubblewrap
def test_without_libseccomp_the_sentence_says_what_to_install(monkeypatch):
    def missing() -> bytes:
        raise OSError("libseccomp.so.2: cannot open shared object file")

    monkeypatch.setattr(bwrap_command, "make_filter", missing)
    with pytest.raises(SandboxError, match=r"needs libseccomp.*apt install libseccomp2.*--unsafe"):
        Sandbox()


def test_on_another_system_the_sentence_says_where_to_grade(monkeypatch):
    monkeypatch.setattr(bwrap_command.sys, "platform", "darwin")
    with pytest.raises(SandboxError, match="Grading needs Linux"):
        Sandbox()


@needs_fork
def test_unsafe_runs_without_bubblewrap(monkeypatch):
    monkeypatch.setattr(bwrap_command.shutil, "which", lambda name: None)
    with Sandbox(unsafe=True, times=TIMES) as made:
        assert shown(made, "1 + 1") == "2"


@needs_bubblewrap
def test_a_sandbox_that_cannot_be_built_says_why(monkeypatch):
    def broken():
        yield from ("--no-such-option",)

    monkeypatch.setattr(bwrap_command, "_list_bwrap_arguments", broken)
    with pytest.raises(SandboxError, match=r"did not start: .*no-such-option.*user namespaces"):
        Sandbox(times=TIMES).prepare()


@needs_bubblewrap
def test_a_python_that_does_not_start_in_the_sandbox_is_not_blamed_on_namespaces(monkeypatch):
    monkeypatch.setattr(bwrap_command, "_find_python", lambda: "/usr/bin/false")
    with pytest.raises(SandboxError, match=r"^Python did not start in the sandbox") as caught:
        Sandbox(times=TIMES).prepare()
    assert "user namespaces" not in str(caught.value)


@pytest.mark.parametrize(
    ("shared", "library", "variable"),
    [
        (1, "/opt/python/lib", {"LD_LIBRARY_PATH": "/python/lib"}),
        (1, "/opt/python/lib/x86", {"LD_LIBRARY_PATH": "/python/lib/x86"}),
        (1, "/usr/lib", {}),
        (0, "/opt/python/lib", {}),
        (None, "None", {}),
    ],
)
def test_the_sandbox_says_where_libpython_is(monkeypatch, shared, library, variable):
    settings = {"Py_ENABLE_SHARED": shared, "LIBDIR": library}
    monkeypatch.setattr(bwrap_command.sysconfig, "get_config_var", settings.get)
    assert bwrap_command._find_library_folder(Path("/opt/python"), "/python") == variable
    monkeypatch.setattr(bwrap_command.sys, "base_prefix", "/opt/python")
    environment = bwrap_command.build_environment("/python")
    assert {"LD_LIBRARY_PATH": environment.get("LD_LIBRARY_PATH")} == (
        variable or {"LD_LIBRARY_PATH": None}
    )
