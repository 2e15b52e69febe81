# What is told of an exception, and what is shown of a value.

def clean(report, seen=None):
    """Drops the driver's own frames from a traceback report and all it is chained to."""
    seen = set() if seen is None else seen
    if report is None or id(report) in seen:
        return
    seen.add(id(report))
    frames = [frame for frame in report.stack if frame.filename != DRIVER]
    if len(frames) > MAX_FRAMES and len({(f.filename, f.lineno) for f in frames}) > MAX_FRAMES:
        frames = frames[: MAX_FRAMES // 2] + frames[-MAX_FRAMES // 2:]
    report.stack = type(report.stack).from_list(frames)
    clean(report.__cause__, seen)
    clean(report.__context__, seen)
    for inner in getattr(report, "exceptions", None) or ():
        clean(inner, seen)


def message_of(error):
    try:
        return bounded(str(error), MAX_MESSAGE)
    except BaseException:
        return "<the exception's text cannot be had>"


def describe(error):
    """Name, message and traceback of what a cell raised; never raises itself."""
    name = type(error).__name__
    try:
        import traceback

        report = traceback.TracebackException(type(error), error, error.__traceback__)
        clean(report)
        text = "".join(report.format())
    except BaseException:
        text = f"{name}: {message_of(error)}\n"
    return name, message_of(error), bounded(text, MAX_TRACEBACK)


def repr_of(value, limit):
    if type(value) in (str, bytes) and len(value) > 2 * limit:
        half = limit // 2
        left_out = len(value) - 2 * half
        return f"{value[:half]!r}\n[... {left_out} characters left out ...]\n{value[-half:]!r}"
    try:
        return bounded(repr(value), limit)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return f"<{type(value).__name__} object; its repr raised {type(error).__name__}>"


def special(value, method):
    """What a display method gives, or None: on the class only, as notebooks do."""
    if isinstance(value, type) or not hasattr(type(value), method):
        return None
    try:
        return getattr(value, method)()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None


def size_of(value):
    """Elements of a built-in container or text, else bytes; never a walk through the value."""
    try:
        if isinstance(value, (str, bytes, bytearray, list, tuple, dict, set, frozenset)):
            return len(value)
        return object.__sizeof__(value)
    except Exception:
        return 0


def text_of(text):
    """JSON of a text that is shown."""
    return f'{{"type":"text","text":{quote(text)}}}'
