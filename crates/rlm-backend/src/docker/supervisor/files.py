# The session's directory: files in and out, and what became of them. No link is followed.

MAX_LISTED = 2000
MAX_CHANGES = 100
ON_THE_WAY = "behind a link, or behind something else that is no directory"
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Refused(Exception):
    """A no, as the host reads it."""

    def __init__(self, kind, **more):
        super().__init__(kind)
        self.told = {"error": kind, **more}


def refusal(error):
    if isinstance(error, Refused):
        return error.told
    number = error.errno
    if number == errno.ENOENT:
        return {"error": "not_found"}
    if number in (errno.ENOTDIR, errno.ELOOP):
        return {"error": "kind", "what": ON_THE_WAY}
    if number == errno.EEXIST:
        return {"error": "exists"}
    return {"error": "io", "errno": number}


def check_kind(mode):
    if stat.S_ISREG(mode):
        return
    for test, what in ((stat.S_ISDIR, "a directory"), (stat.S_ISLNK, "a symbolic link"),
                       (stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket")):
        if test(mode):
            raise Refused("kind", what=what)
    raise Refused("kind", what="a device")


class Directory:
    """A directory, by a descriptor."""

    def __init__(self, path):
        self.root = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.seen = {}
        self.look()

    def parent(self, parts, make):
        at = os.dup(self.root)
        for name in parts[:-1]:
            try:
                try:
                    below = os.open(name, DIRECTORY, dir_fd=at)
                except FileNotFoundError:
                    if not make:
                        raise
                    try:
                        os.mkdir(name, 0o755, dir_fd=at)
                    except FileExistsError:
                        pass
                    below = os.open(name, DIRECTORY, dir_fd=at)
            finally:
                os.close(at)
            at = below
        return at

    def open(self, parts):
        """Opens a regular file; gives its size too."""
        at = self.parent(parts, False)
        try:
            check_kind(os.lstat(parts[-1], dir_fd=at).st_mode)
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
            fd = os.open(parts[-1], flags, dir_fd=at)
        finally:
            os.close(at)
        found = os.fstat(fd)
        check_kind(found.st_mode)
        return fd, found.st_size

    def get(self, request):
        """Gives the pieces of a part of a file; the last one is the answer."""
        fd, size = self.open(request["path"])
        try:
            os.lseek(fd, request["offset"], os.SEEK_SET)
            left = request["limit"]
            while left > 0:
                data = os.read(fd, min(left, PART))
                if not data:
                    break
                left -= len(data)
                yield data
        finally:
            os.close(fd)
        yield {"size": size}

    def entries(self, most):
        """What is in it: path, then kind, size, and what changes when it does. None past `most`."""
        found, folders = {}, [""]
        while folders:
            folder = folders.pop()
            try:
                fd = self.parent([*folder.split("/"), ""] if folder else [""], False)
            except OSError:
                continue
            try:
                with os.scandir(fd) as scan:
                    for entry in scan:
                        path = f"{folder}/{entry.name}" if folder else entry.name
                        about = self.about(fd, entry.name)
                        if about is None:
                            continue
                        found[path] = about
                        if stat.S_ISDIR(about[0]):
                            folders.append(path)
                        if len(found) > most:
                            return None
            finally:
                os.close(fd)
        return found

    @staticmethod
    def about(fd, name):
        try:
            it = os.lstat(name, dir_fd=fd)
        except OSError:
            return None
        return (it.st_mode, it.st_size, it.st_mtime_ns, it.st_ctime_ns, it.st_ino, it.st_nlink)

    def held(self):
        return sum(it[1] // max(it[5], 1) for it in (self.entries(1 << 30) or {}).values()
                   if stat.S_ISREG(it[0]))

    def look(self):
        now = self.entries(MAX_LISTED)
        before, self.seen = self.seen, now
        if now is None or before is None:
            return {"not_listed": f"the directory has more than {MAX_LISTED} files",
                    "held": self.held()}
        files = sorted((path, it[1]) for path, it in now.items()
                       if stat.S_ISREG(it[0]) and self.is_other(before.get(path), it))
        held = sum(it[1] // max(it[5], 1) for it in now.values() if stat.S_ISREG(it[0]))
        told = [[path.encode("utf-8", "replace").decode(), size] for path, size in files]
        return {"files": told[:MAX_CHANGES], "left_out": max(0, len(told) - MAX_CHANGES),
                "held": held}

    @staticmethod
    def is_other(before, now):
        return before is None or before[:3] != now[:3] or before[4] != now[4]


class Put:
    """A file on its way in, under a name of its own until it is whole."""

    def __init__(self, directory, request):
        self.parts, self.overwrite = request["path"], request["overwrite"]
        self.at = self.fd = self.draft = None
        self.failed = None
        try:
            self.begin(directory)
        except (OSError, Refused) as error:
            self.failed = error

    def begin(self, directory):
        self.at = directory.parent(self.parts, True)
        self.mode = 0o644
        found = None
        try:
            found = os.lstat(self.parts[-1], dir_fd=self.at)
        except FileNotFoundError:
            pass
        if found is not None:
            check_kind(found.st_mode)
            if not self.overwrite:
                raise Refused("exists")
            self.mode = found.st_mode & 0o777
        draft = f".remit-put-{os.urandom(8).hex()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self.fd = os.open(draft, flags, self.mode | 0o200, dir_fd=self.at)
        self.draft = draft

    def feed(self, data):
        if self.failed is not None:
            return
        try:
            data = memoryview(data)
            while data:
                data = data[os.write(self.fd, data):]
        except OSError as error:
            self.failed = error

    def end(self):
        try:
            if self.failed is None:
                self.finish()
            return {} if self.failed is None else refusal(self.failed)
        finally:
            if self.draft is not None:
                quietly(lambda: os.unlink(self.draft, dir_fd=self.at))
            for fd in (self.fd, self.at):
                if fd is not None:
                    os.close(fd)

    def finish(self):
        try:
            os.fchmod(self.fd, self.mode)
            if self.overwrite:
                os.rename(self.draft, self.parts[-1], src_dir_fd=self.at, dst_dir_fd=self.at)
                self.draft = None
            else:
                os.link(self.draft, self.parts[-1], src_dir_fd=self.at, dst_dir_fd=self.at,
                        follow_symlinks=False)
        except OSError as error:
            self.failed = error
