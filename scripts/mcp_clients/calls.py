"""The calls that every client makes, and what is expected of their results.

A tool that is listed and has no call here is a failure, so that a new tool gets one.
"""

import sys
import time

# Name, arguments, whether it has to succeed. "$session" and "$snapshot" are what an earlier result gave.
CALLS = [
    ("capitals", {"key": "France"}, True),
    ("capitals", {"key": "Nowhere"}, False),
    ("read_file_in_workdir", {"path": "hello.txt"}, True),
    ("list_dir_in_workdir", {}, True),
    ("search_in_workdir", {"pattern": "hello"}, True),
    ("sandbox_session_create", {}, True),
    ("sandbox_execute_code", {"code": "x = 41", "session_id": "$session"}, True),
    ("sandbox_execute_code", {"code": "x + 1", "session_id": "$session"}, True),
    ("sandbox_execute_bash", {"command": "echo there; echo wrong >&2; exit 3"}, True),
    ("sandbox_file_put", {"path": "a.txt", "content": "text", "session_id": "$session"}, True),
    ("sandbox_file_get", {"path": "a.txt", "session_id": "$session"}, True),
    ("sandbox_snapshot_create", {"session_id": "$session"}, True),
    ("sandbox_snapshot_list", {"session_id": "$session"}, True),
    (
        "sandbox_snapshot_restore",
        {"session_id": "$session", "snapshot_id": "$snapshot"},
        True,
    ),
    ("sandbox_snapshot_delete", {"session_id": "$session", "snapshot_id": "$snapshot"}, True),
    ("sandbox_session_status", {"session_id": "$session"}, True),
    ("sandbox_session_extend", {"session_id": "$session"}, True),
    ("sandbox_session_destroy", {"session_id": "$session"}, True),
    # No model is configured, and the result says so.
    ("sandbox_recursive_query", {"prompt": "How many?"}, False),
    # Arguments that don't fit are a result, too.
    ("sandbox_execute_code", {"cod": "1"}, False),
]


class Run:
    """One client's run: fills the placeholders, and counts what went wrong."""

    def __init__(self, name):
        self.name = name
        self.known = {}
        self.wrong = []
        self.started = time.monotonic()

    def arguments(self, arguments):
        return {key: self.known.get(value, value) for key, value in arguments.items()}

    def listed(self, names):
        called = {name for name, _, _ in CALLS}
        if set(names) != called:
            self.wrong.append(f"listed {sorted(names)}, and calls are known for {sorted(called)}")

    def called(self, name, must_succeed, is_error, structured):
        structured = structured or {}
        if "session_id" in structured:
            self.known.setdefault("$session", structured["session_id"])
        if "snapshot_id" in structured:
            self.known.setdefault("$snapshot", structured["snapshot_id"])
        if bool(is_error) == must_succeed:
            self.wrong.append(f"{name}: is_error is {is_error}")
        if structured.get("value") not in (None, "42"):
            self.wrong.append(f"{name}: the value is {structured['value']}")

    def end(self):
        for wrong in self.wrong:
            print(f"{self.name}: {wrong}", file=sys.stderr)
        took = time.monotonic() - self.started
        state = "wrong" if self.wrong else "ok"
        print(f"  {self.name}: {len(CALLS)} calls, {took:.1f} s: {state}")
        return not self.wrong
