#!/usr/bin/env python3
"""Makes crates/browser/src/extract/finder/trees.rs from pages with ground truth.

    cargo xtask bench extract FOLDER --rows OUT      once for each folder of pages
    python3 -m pip install lightgbm numpy
    python3 scripts/train-extraction.py OUT[=WEIGHT]... > crates/browser/src/extract/finder/trees.rs

A block of a page is labelled by whether its words stand in the page's ground truth, each stretch of
which is used once, the longest blocks first. Blocks weigh by their words, pages alike, and the pages
of an OUT more by its WEIGHT. Each tree halves what is left to explain of the labels (LightGBM). The
shipped trees were made from the development set of the benchmark of all kinds, with weight 1, and the
article benchmark, with weight 3; docs/design/browser-extraction.md says how they were judged.

Everything is seeded: the same rows give the same trees with the same version of LightGBM (4.7).
"""

import json
import re
import sys
from collections import Counter, defaultdict

import lightgbm
import numpy

WORD = re.compile(r"\w+")
TREES, LEAVES, RATE = 120, 31, 0.1
PARAMETERS = {
    "objective": "cross_entropy", "num_leaves": LEAVES, "learning_rate": RATE, "min_data_in_leaf": 60,
    "feature_fraction": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1, "lambda_l2": 5, "max_bin": 63,
    "seed": 1, "num_threads": 2, "verbose": -1,
}
HEAD = """//! The trees that judge blocks, made by `scripts/train-extraction.py`; not to be edited.

/// A question: which number of a row, at most what; where to go for yes and for no. From 0 on the place
/// of a question, below 0 a leaf: -1 is the first.
pub(super) type Node = (u8, f32, i16, i16);
"""


def words(text):
    return [word.lower() for word in WORD.findall(text)]


def labels(blocks, truth):
    """For each block: 1 or the share that is content, and -1 for a block without words."""
    places = defaultdict(list)
    for place, word in enumerate(truth):
        places[word].append(place)
    used = numpy.zeros(len(truth) + 1, bool)
    triples = set(zip(truth, truth[1:], truth[2:]))
    found = numpy.zeros(len(blocks))
    for number in sorted(range(len(blocks)), key=lambda number: -len(blocks[number])):
        block = blocks[number]
        if not block:
            found[number] = -1
            continue
        for start in places.get(block[0], [])[:2000]:
            end = start + len(block)
            if truth[start:end] == block and not used[start:end].any():
                used[start:end] = True
                found[number] = 1
                break
        else:
            if len(block) >= 4:
                own = list(zip(block, block[1:], block[2:]))
                found[number] = sum(triple in triples for triple in own) / len(own)
    return found


def load(name, weight):
    """The rows of some pages with their labels and weights."""
    with open(f"{name}.jsonl", encoding="utf-8") as lines:
        pages = [json.loads(line) for line in lines]
    count = sum(len(page["blocks"]) for page in pages)
    rows = numpy.fromfile(f"{name}.f32", dtype="<f4").reshape(count, -1)
    marks, weights = [], []
    for page in pages:
        truth = words(page["truth"])
        blocks = [words(block) for block in page["blocks"]]
        lengths = numpy.array([len(block) for block in blocks], float)
        whole = max(len(truth), lengths.sum() * 0.2, 50)
        marks.append(labels(blocks, truth))
        weights.append((numpy.minimum(lengths, 150) / whole * 100 + 0.02) * weight)
    return rows, numpy.concatenate(marks), numpy.concatenate(weights)


def train(parts):
    rows, marks, weights = (numpy.concatenate(column) for column in zip(*parts))
    has_words = marks >= 0
    data = lightgbm.Dataset(rows[has_words], label=marks[has_words], weight=weights[has_words])
    return lightgbm.train(PARAMETERS, data, TREES)


def write(model, out):
    nodes, roots, leaves = [], [], []

    def add(node):
        if "leaf_value" in node:
            leaves.append(node["leaf_value"])
            return -len(leaves)
        place = len(nodes)
        nodes.append(None)
        children = add(node["left_child"]), add(node["right_child"])
        nodes[place] = (node["split_feature"], numpy.float32(node["threshold"]), *children)
        return place

    def number(value):
        text = f"{float(value):.6g}"
        return text if "." in text or "e" in text else text + ".0"

    def array(name, kind, items, comment):
        out.write(f"\n/// {comment}\n#[rustfmt::skip]\npub(super) static {name}: [{kind}; {len(items)}] = [\n")
        line = "   "
        for item in items:
            if len(line) + len(item) + 2 > 98:
                out.write(line + "\n")
                line = "   "
            line += f" {item},"
        out.write(line + "\n];\n")

    for tree in model.dump_model()["tree_info"]:
        roots.append(add(tree["tree_structure"]))
    out.write(HEAD)
    array("ROOTS", "u16", [str(root) for root in roots], "Where each tree begins.")
    questions = [f"({row}, {number(most)}, {yes}, {no})" for row, most, yes, no in nodes]
    array("NODES", "Node", questions, "The questions of all trees.")
    array("LEAVES", "f32", [number(leaf) for leaf in leaves], "What is added where a tree ends.")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    parts = []
    for argument in sys.argv[1:]:
        name, _, weight = argument.partition("=")
        parts.append(load(name, float(weight or 1)))
    write(train(parts), sys.stdout)


if __name__ == "__main__":
    main()
