# Runs a scripted trajectory with the reference package. Prints how long it took and how much of that
# the program took that plays its models, in seconds; then the answer.
#
# reference.py FILE TASK: the same text, the same code, and a model that answers at once.
import sys
import time

import rlm.core.rlm as core
from rlm.clients.base_lm import BaseLM
from rlm.core.types import ModelUsageSummary, UsageSummary

TURNS = {
    "needle": [
        "import re, time\nbegan = time.perf_counter()\n"
        'hits = re.findall(r"magic number is (\\d+)", context)\n'
        "worked = time.perf_counter() - began\nprint(len(context), hits)",
        'answer["content"] = f"{hits[0]} {worked}"\nanswer["ready"] = True',
    ],
    "counting": [
        "import time\nbegan = time.perf_counter()\n"
        "parts = [context[i:i + 100_000] for i in range(0, len(context), 100_000)]\n"
        "worked = time.perf_counter() - began\n"
        "counts = [int(reply) for reply in llm_query_batched(parts)]\nprint(len(counts))",
        'answer["content"] = f"{sum(counts)} {worked}"\nanswer["ready"] = True',
    ],
}


PLAYED = []


class Scripted(BaseLM):
    def __init__(self, model_name, task):
        super().__init__(model_name)
        self.task = task
        self.usage = ModelUsageSummary(0, 0, 0)

    def completion(self, prompt):
        began = time.perf_counter()
        reply = self.play(prompt)
        PLAYED.append(time.perf_counter() - began)
        return reply

    def play(self, prompt):
        self.usage.total_calls += 1
        if isinstance(prompt, str):
            return str(prompt.count("river"))
        turn = sum(message["role"] == "assistant" for message in prompt)
        return f"```repl\n{TURNS[self.task][min(turn, 1)]}\n```"

    async def acompletion(self, prompt):
        return self.completion(prompt)

    def get_usage_summary(self):
        return UsageSummary({self.model_name: self.usage})

    def get_last_usage(self):
        return self.usage


def main():
    path, task = sys.argv[1:]
    core.get_client = lambda backend, kwargs: Scripted(**kwargs)
    rlm = core.RLM(backend_kwargs={"model_name": "scripted", "task": task}, environment="local")
    began = time.perf_counter()
    with open(path, encoding="utf-8") as file:
        text = file.read()
    reply = rlm.completion(text, root_prompt="?")
    print(time.perf_counter() - began, sum(PLAYED), reply.response)


main()
