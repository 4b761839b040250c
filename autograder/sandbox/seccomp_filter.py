"""Builds the seccomp filter of system calls that a submission may make.

An allowlist does not become outdated: a call that a later Linux adds is refused. libseccomp maps
each name to its number on this architecture; a name that it does not know stays refused.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import tempfile
from typing import Any

_ALLOWED = """
read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek open openat openat2
creat close close_range dup dup2 dup3 pipe pipe2 ioctl fsync fdatasync sync_file_range
truncate ftruncate fallocate fadvise64 readahead sendfile copy_file_range splice tee stat fstat
lstat newfstatat statx statfs fstatfs access faccessat faccessat2 getdents getdents64 getcwd chdir
fchdir umask mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink
symlinkat readlink readlinkat chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat
getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr

brk mmap munmap mprotect mremap madvise msync mincore mlock mlock2 munlock munlockall membarrier
mbind get_mempolicy set_mempolicy

futex futex_waitv futex_wake futex_wait futex_requeue set_robust_list get_robust_list
set_tid_address rseq arch_prctl prctl capget exit exit_group restart_syscall wait4 waitid kill
tkill tgkill setpgid setsid rt_sigaction rt_sigprocmask rt_sigpending rt_sigqueueinfo
rt_tgsigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait sigaltstack signalfd signalfd4 pause
alarm sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_getscheduler
sched_getattr sched_get_priority_max sched_get_priority_min sched_rr_get_interval getpriority
setpriority getrlimit setrlimit prlimit64 getrusage times getcpu sysinfo uname getrandom getpid
getppid gettid getpgid getpgrp getsid getuid geteuid getgid getegid getgroups getresuid getresgid

time gettimeofday clock_gettime clock_getres nanosleep clock_nanosleep getitimer setitimer
timer_create timer_settime timer_gettime timer_getoverrun timer_delete timerfd_create
timerfd_settime timerfd_gettime

poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait
epoll_pwait2 eventfd eventfd2 socketpair shutdown sendto sendmsg sendmmsg recvfrom recvmsg
recvmmsg getsockname getpeername getsockopt setsockopt
"""
ALLOWED = tuple(_ALLOWED.split())
"""Calls for files, memory, threads, signals, time, and communication within one process."""

REFUSED = ("fork", "vfork", "execve", "execveat", "socket")
"""Calls that fail with EPERM. All others fail with ENOSYS, which libraries can handle."""

# seccomp.h, linux/sched.h
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_BAD_ARCHITECTURE, _MASKED_EQUAL = 2, 7
_THREAD, _NEW_NAMESPACES = 0x00010000, 0x7E020080


# Commands of fcntl(): F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ,
# F_ADD_SEALS, F_GET_SEALS.
_FILE_COMMANDS = (0, 1, 2, 3, 4, 1030, 1032, 1033, 1034)

_LOCKS = (5, 6, 7, 36, 37, 38)  # F_GETLK, F_SETLK, F_SETLKW, and their F_OFD_ variants


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operation", ctypes.c_int),
        ("mask", ctypes.c_uint64),
        ("value", ctypes.c_uint64),
    )


def make_filter() -> bytes:
    """Return the filter for this machine's architecture, as a program for linux/filter.h.

    A refused call returns an error; it does not end the process.

    Raises:
        OSError: if libseccomp is not installed, or is too old for this architecture.
    """
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(_ERROR | errno.ENOSYS))
    if not context:
        raise OSError("libseccomp does not work here")
    try:
        # Refuse system calls of another architecture, such as 32-bit ones.
        _try(library.seccomp_attr_set(context, _BAD_ARCHITECTURE, _ERROR | errno.ENOSYS))
        for name in ALLOWED:
            _add_rule(library, context, _ALLOW, name)
        for name in REFUSED:
            _add_rule(library, context, _ERROR | errno.EPERM, name)
        # clone may start threads, but no processes or namespaces. clone3 hides its flags from a
        # filter; without it, libraries fall back to clone.
        flags = 1 if platform.machine().startswith("s390") else 0
        thread = _Comparison(flags, _MASKED_EQUAL, _THREAD | _NEW_NAMESPACES, _THREAD)
        process = _Comparison(flags, _MASKED_EQUAL, _THREAD, 0)
        _add_rule(library, context, _ALLOW, "clone", thread)
        _add_rule(library, context, _ERROR | errno.EPERM, "clone", process)
        # Locking reports success, which SQLite needs, but takes no lock: a lock on a file that all
        # submissions can read could pass an answer to another submission.
        _add_rule(library, context, _ERROR | 0, "flock")
        for command in _LOCKS:
            same = _Comparison(1, _MASKED_EQUAL, 0xFFFFFFFF, command)
            _add_rule(library, context, _ERROR | 0, "fcntl", same)
        for command in _FILE_COMMANDS:
            same = _Comparison(1, _MASKED_EQUAL, 0xFFFFFFFF, command)
            _add_rule(library, context, _ALLOW, "fcntl", same)
        with tempfile.TemporaryFile() as page:
            _try(library.seccomp_export_bpf(context, page.fileno()))
            page.seek(0)
            return page.read()
    finally:
        library.seccomp_release(context)


def _add_rule(
    library: Any, context: ctypes.c_void_p, action: int, name: str, *when: _Comparison
) -> None:
    number = library.seccomp_syscall_resolve_name(name.encode())
    if number != -1:  # -1 means that this libseccomp does not know the name yet
        conditions = (_Comparison * len(when))(*when)
        _try(library.seccomp_rule_add_array(context, action, number, len(when), conditions))


def _try(code: int) -> None:
    if code != 0:
        raise OSError(-code, "libseccomp failed")
