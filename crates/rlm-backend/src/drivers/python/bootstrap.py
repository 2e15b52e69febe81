import marshal, os, sys

# Reads the driver, SIZE bytes, from the control channel, and compiles it in a forked child: what a
# compiler leaves in the heap would stay with the session. The folder of the session is no place to
# import the driver's modules from.
sys.path.pop(0)


def code():
    fd, text = int(sys.argv[1]), b""
    while len(text) < SIZE:
        text += os.read(fd, SIZE - len(text)) or sys.exit(70)
    compiled, mine = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            parts = text.split(b"\0")
            with open(mine, "wb") as pipe:
                marshal.dump([compile(part, "<driver>", "exec", 0, True, 2) for part in parts], pipe)
            status = 0
        finally:
            os._exit(status)
    os.close(mine)
    with open(compiled, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return marshal.loads(data)


space = {"__name__": "driver"}
for part in code():
    exec(part, space)
del part, code
sys.path.insert(0, "")
space["main"]()
