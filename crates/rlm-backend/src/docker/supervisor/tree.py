# A driver's processes: one keeper each, whose descendants they are, whatever they do.

def parents():
    """The processes that are not dead, each with its parent."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                text = file.read()
        except OSError:
            continue
        fields = text[text.rindex(b")") + 2:].split()
        if fields[0] not in (b"Z", b"X"):
            found[int(name)] = int(fields[1])
    return found


def descendants(root, spared=()):
    """The living processes below one, without those that are spared and what is below them."""
    found, all_parents = {root}, parents()
    grown = True
    while grown:
        below = {pid for pid, parent in all_parents.items()
                 if parent in found and pid not in found and pid not in spared}
        found |= below
        grown = bool(below)
    found.discard(root)
    return found


def kill_below(root, spared=()):
    """Kills everything below a process. It is stopped first, so that nothing new is made meanwhile."""
    until = time.monotonic() + 2
    while time.monotonic() < until:
        stopped = set()
        while True:
            new = descendants(root, spared) - stopped
            if not new or time.monotonic() > until:
                break
            for pid in new:
                quietly(os.kill, pid, signal.SIGSTOP)
            stopped |= new
        if not stopped:
            return
        for pid in stopped:
            quietly(os.kill, pid, signal.SIGKILL)


def close_all_but(kept):
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            quietly(os.close, int(name))


def become_driver(argv, fds, workdir):
    """Never returns. `fds` are what the driver reads and writes, its output and its errors."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD, signal.SIGTERM, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    prctl(PR_SET_DUMPABLE, 1)
    try:
        # Where memory runs out, this goes before the supervisor does.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
    except OSError:
        pass
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for fd in fds]
    for fd, target in zip(high, (3, 4, 1, 2)):
        os.dup2(fd, target)
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.closerange(5, 200)
    try:
        os.chdir(workdir)
        os.execvpe(argv[0], argv, environment())
    except OSError as error:
        os.write(2, f"{argv[0]} can't be started: {error.strerror}\n".encode())
    os._exit(127)


def environment():
    """What the container was started with, without what the engine adds of its own."""
    names = ("PATH", "HOME", "TMPDIR", "LANG", "TZ", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH",
             "VIRTUAL_ENV")
    return {name: os.environ[name] for name in names if name in os.environ}


def keep(argv, fds, workdir, tell):
    """What a keeper does: starts the driver, waits for its end, kills what it leaves behind, and tells
    its process id and how it ended."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    driver = os.fork()
    if driver == 0:
        become_driver(argv, fds, workdir)
    close_all_but({tell})
    os.write(tell, struct.pack(">i", driver))
    status = None
    while True:
        try:
            pid, ended = os.waitpid(-1, 0)
        except ChildProcessError:
            break
        if pid == driver:
            status = ended
            kill_below(os.getpid())
    if status is not None:
        os.write(tell, struct.pack(">i", status))


def start_keeper(argv, fds, workdir):
    """Starts a keeper; gives its process id and where it tells what it knows."""
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.set_wakeup_fd(-1)
            close_all_but({tell, *fds})
            keep(argv, fds, workdir, tell)
        finally:
            os._exit(0)
    os.close(tell)
    os.set_blocking(told, False)
    return pid, told


def killed_for_memory():
    """How many processes of the container the kernel killed because memory ran out."""
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        try:
            with open(path) as file:
                words = file.read().split()
            return int(words[words.index("oom_kill") + 1])
        except (OSError, ValueError, IndexError):
            continue
    return 0
