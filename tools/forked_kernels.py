"""Kernels that are forked from a process that has loaded the pages' libraries already.

Each page runs in a kernel of its own, and importing torch with what its optimizers load, matplotlib
and the kernel itself takes about four seconds. Here one process imports them, and each kernel is a
copy of it. Only Linux forks such a process safely.
"""

from __future__ import annotations

import os
from multiprocessing import get_context
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

FORK_SERVER = get_context("forkserver")
# An optimizer's first step imports torch._dynamo.
LIBRARIES = ["ipykernel.kernelapp", "ipywidgets", "matplotlib.pyplot", "torch._dynamo"]


class _KernelProcess(FORK_SERVER.Process):  # type: ignore[name-defined,misc]
    """A forked kernel with those methods of `subprocess.Popen` that a provisioner calls."""

    stdin = stdout = stderr = None

    def __init__(self, connection_file: str, folder: str, environment: dict[str, str]) -> None:
        super().__init__(args=(connection_file, folder, environment))

    def run(self) -> None:
        import matplotlib
        from ipykernel.kernelapp import IPKernelApp

        connection_file, folder, environment = self._args
        os.chdir(folder)
        os.environ.update(environment)
        # matplotlib asks for the backend when it is imported; a kernel draws into its cells.
        matplotlib.rcParams["backend"] = "module://matplotlib_inline.backend_inline"
        IPKernelApp.launch_instance(argv=["-f", connection_file], parent_handle=os.getppid())

    def poll(self) -> int | None:
        return self.exitcode

    def wait(self) -> int | None:
        self.join()
        return self.exitcode

    def send_signal(self, number: int) -> None:
        assert self.pid is not None
        os.kill(self.pid, number)


class _Provisioner(LocalProvisioner):
    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        assert self.parent is not None
        self.cwd = kwargs.get("cwd") or os.getcwd()
        process = _KernelProcess(self.parent.connection_file, self.cwd, kwargs["env"])
        process.start()
        # Without a process group of its own: a signal goes to the kernel alone.
        self.process, self.pid = process, process.pid
        return self.connection_info


class ForkedKernelManager(AsyncKernelManager):
    """Starts a forked kernel instead of a new process.

    Its sockets are files. A free TCP port, chosen before the kernel binds it, may be taken by then.
    """

    def __init__(self, **settings: Any) -> None:
        folder = TemporaryDirectory(prefix="kernel-")
        files = {"connection_file": f"{folder.name}/kernel.json", "ip": f"{folder.name}/socket"}
        super().__init__(transport="ipc", **files, **settings)
        self._folder = folder  # removed with the manager

    async def _async_pre_start_kernel(self, **kw: Any) -> tuple[list[str], dict[str, Any]]:
        FORK_SERVER.set_forkserver_preload(LIBRARIES)
        if self.provisioner is None:
            self.provisioner = _Provisioner(
                kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self
            )
        return await super()._async_pre_start_kernel(**kw)
