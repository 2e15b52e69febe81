"""A model that gives one answer, over the wire formats of four vendors.

In: requests of OpenAI's chat completions and responses, Anthropic's messages, and Gemini's
generateContent, streamed or not. Out: the answer and token counts given on the command line, and one
JSON line in a file for every request: its path, and every text that a user has in it. Listens on
loopback alone, at a port that it prints. Leaves out tools, errors and everything that no command-line
agent needs for one turn.

usage: serve.py LOG ANSWER
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

LOG, ANSWER = sys.argv[1:3]
INPUT, OUTPUT = 11, 7
WRITING = Lock()


def texts(node):
    """Every text in a part of a request."""
    if isinstance(node, str):
        return [node]
    if isinstance(node, list):
        return [text for one in node for text in texts(one)]
    if isinstance(node, dict):
        return [text for key in ("content", "text", "parts") if key in node for text in texts(node[key])]
    return []


def users(body):
    """What users say in a request of any of the formats."""
    messages = body.get("messages") or body.get("contents") or body.get("input") or []
    if isinstance(messages, str):
        return [messages]
    return [text for one in messages if one.get("role", "user") == "user" for text in texts(one)]


def chat(body):
    """OpenAI's chat completions."""
    usage = {"prompt_tokens": INPUT, "completion_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT}
    whole = {"id": "c-1", "created": 1, "model": body.get("model"), "usage": usage}
    if not body.get("stream"):
        message = {"role": "assistant", "content": ANSWER}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {**whole, "object": "chat.completion", "choices": [choice]}
    part = {**whole, "object": "chat.completion.chunk", "usage": None}
    says = {"index": 0, "delta": {"role": "assistant", "content": ANSWER}, "finish_reason": None}
    ends = {"index": 0, "delta": {}, "finish_reason": "stop"}
    return [
        (None, {**part, "choices": [says]}),
        (None, {**part, "choices": [ends]}),
        (None, {**part, "choices": [], "usage": usage}),
        (None, "[DONE]"),
    ]


def responses(body):
    """OpenAI's responses."""
    usage = {"input_tokens": INPUT, "output_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    text = {"type": "output_text", "text": ANSWER, "annotations": []}
    item = {"type": "message", "id": "m-1", "role": "assistant", "status": "completed", "content": [text]}
    whole = {"id": "r-1", "object": "response", "created_at": 1, "model": body.get("model"), "output": [item]}
    done = {**whole, "status": "completed", "usage": usage}
    if not body.get("stream"):
        return done
    place = {"item_id": "m-1", "output_index": 0, "content_index": 0}
    events = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.output_text.delta", **place, "delta": ANSWER},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]
    return [(event["type"], event) for event in events]


def messages(body):
    """Anthropic's messages."""
    usage = {"input_tokens": INPUT, "output_tokens": OUTPUT}
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model")}
    whole |= {"stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
    if not body.get("stream"):
        return {**whole, "content": [{"type": "text", "text": ANSWER}]}
    start = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    events = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": OUTPUT}},
        {"type": "message_stop"},
    ]
    return [(event["type"], event) for event in events]


def gemini(path):
    """Gemini's generateContent."""
    part = {"content": {"role": "model", "parts": [{"text": ANSWER}]}, "finishReason": "STOP", "index": 0}
    counts = {"promptTokenCount": INPUT, "candidatesTokenCount": OUTPUT, "totalTokenCount": INPUT + OUTPUT}
    whole = {"candidates": [part], "usageMetadata": counts, "modelVersion": "scripted"}
    return [(None, whole)] if "stream" in path else whole


def answer(path, body):
    """The answer to a request: a document, or events with their names."""
    if path.endswith("count_tokens"):
        return {"input_tokens": INPUT}
    if path.endswith("countTokens"):
        return {"totalTokens": INPUT}
    if path.endswith("/messages"):
        return messages(body)
    if path.endswith("/responses"):
        return responses(body)
    if path.endswith("/chat/completions"):
        return chat(body)
    return gemini(path) if "enerateContent" in path else None


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """The log is a file of its own."""

    def send(self, status, kind, data):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_HEAD(self):
        self.send(200, "application/json", b"")

    def do_GET(self):
        models = [{"id": "scripted", "object": "model", "owned_by": "script"}]
        self.send(200, "application/json", json.dumps({"object": "list", "data": models}).encode())

    def do_POST(self):
        path = self.path.split("?")[0]
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        except ValueError:
            body = {}
        said = answer(path, body)
        with WRITING, open(LOG, "a", encoding="utf-8") as log:
            log.write(json.dumps({"path": path, "users": users(body) if said else []}) + "\n")
        if said is None:
            self.send(404, "application/json", b'{"error":{"message":"no such path"}}')
        elif isinstance(said, dict):
            self.send(200, "application/json", json.dumps(said).encode())
        else:
            lines = []
            for name, event in said:
                data = event if isinstance(event, str) else json.dumps(event)
                lines.append((f"event: {name}\n" if name else "") + f"data: {data}\n\n")
            self.send(200, "text/event-stream", "".join(lines).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
