"""Isolates a submission's process: namespaces, resource limits, capabilities, seccomp.

bubblewrap decides what is visible: no network, no course folder, no home folder. All submissions of
a run are forked from one process inside it, so each submission also gets its own isolation: its own
process namespace, its own empty /tmp, resource limits, no capabilities, and no system calls that
could start a program, open a socket or leave its namespaces.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import signal
import struct
from dataclasses import dataclass
from typing import Any

# Windows has no such library; there the limits are declared but never set.
_libc: Any = ctypes.CDLL(None, use_errno=True) if hasattr(os, "fork") else None

# linux/sched.h, sys/mount.h, sys/prctl.h
_NEW_NAMESPACES = 0x10000000 | 0x20000000 | 0x00020000 | 0x08000000  # user, pid, mount, ipc
_NOSUID_NODEV, _PRIVATE, _REMOUNT_READ_ONLY_BIND = 2 | 4, 1 << 18 | 1 << 14, 32 | 1 | 4096
_SET_SECCOMP, _SET_NO_NEW_PRIVILEGES, _DROP_FROM_BOUNDING_SET = 22, 38, 24
_LAST_CAPABILITY = 63

OUT_OF_MEMORY = 73  # exit status if a cell leaves no memory for the code after it


@dataclass(frozen=True)
class Limits:
    """The resource limits of a submission's process.

    Attributes:
        memory: bytes of address space beyond what the course's packages take.
        scratch: bytes of all files in its /tmp together.
        file_size: bytes of one file.
        open_files: number of open files.
        processes: number of threads (it cannot start processes at all).
        cpu: seconds of processor time, in case code escapes the limits on wall time.
    """

    memory: int = 2 << 30
    scratch: int = 256 << 20
    file_size: int = 128 << 20
    open_files: int = 256
    processes: int = 128
    cpu: int = 900


def unshare_namespaces() -> bool:
    """Give processes forked from now on their own namespaces, and return whether that worked.

    The calling process keeps its process namespace; its next child is the first in a new one.
    """
    user, group = os.geteuid(), os.getegid()
    if _libc.unshare(_NEW_NAMESPACES) != 0:
        return False
    try:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    except OSError:
        return False
    return True


def mount_private_filesystems(limits: Limits) -> None:
    """Mount new /tmp, /dev/shm, /dev/pts and /proc over those that submissions would share."""
    _mount(None, "/", None, _PRIVATE)
    _mount("tmpfs", "/tmp", "tmpfs", _NOSUID_NODEV, f"size={limits.scratch},mode=700")
    _mount("tmpfs", "/dev/shm", "tmpfs", _NOSUID_NODEV, "size=16m,mode=700")
    # Otherwise the next submission could read what this one writes to a terminal left open.
    _mount("tmpfs", "/dev/pts", "tmpfs", _NOSUID_NODEV, "size=4k,mode=555")
    try:
        _mount("proc", "/proc", "proc", _NOSUID_NODEV)
    except OSError:  # Linux refuses a new /proc if the outer one is partly covered
        _mount("tmpfs", "/proc", "tmpfs", _NOSUID_NODEV, "size=4k,mode=555")
    for folder in ("/dev", "/"):
        with contextlib.suppress(OSError):  # bubblewrap has already done it
            _mount(None, folder, None, _REMOUNT_READ_ONLY_BIND)


def set_limits(limits: Limits) -> None:
    """Set the resource limits of this process and of the processes that it starts."""
    import resource  # missing on Windows, where the limits are only declared

    taken = measure_address_space()
    for what, most in (
        (resource.RLIMIT_AS, taken + limits.memory),
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_CPU, limits.cpu),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))
    # Python raises an error for a file that is too large only if this signal is ignored.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def has_free_memory(limits: Limits) -> bool:
    """Return whether an eighth of the memory is free for the code after a cell.

    After a cell has taken nearly all memory, the next operation of torch may raise an error, abort
    or crash. Ending the process at once shows which cell is to blame, so that it can be skipped.
    """
    try:
        mmap.mmap(-1, limits.memory // 8).close()
    except (OSError, MemoryError):
        return False
    return True


def measure_address_space() -> int:
    """Return the size of this process's address space, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as page:
        return int(page.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def drop_capabilities() -> None:
    """Drop all capabilities, including those that a program started later could gain."""
    for number in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_DROP_FROM_BOUNDING_SET, number, 0, 0, 0)
    header = struct.pack("Ii", 0x20080522, 0)  # version 3 of the interface, this process
    if _libc.capset(header, bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), "capset failed")
    if _libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs failed")


def _mount(
    source: str | None, target: str, kind: str | None, flags: int, options: str | None = None
) -> None:
    given = [text.encode() if text else None for text in (source, target, kind, options)]
    if _libc.mount(given[0], given[1], given[2], flags, given[3]) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), target)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as page:
        page.write(text)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def install_seccomp_filter(program: bytes) -> None:
    """Permanently restrict this process to the system calls that a linux/filter.h program allows.

    Raises:
        OSError: if Linux does not accept the program.
    """
    lines = _Program(len(program) // 8, program)
    if _libc.prctl(_SET_SECCOMP, 2, ctypes.byref(lines), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp failed")
