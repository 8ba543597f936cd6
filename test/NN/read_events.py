# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what TensorBoard's own reader finds in a folder of event files: each
tag with its steps and values, and the nodes of the graph.

usage: read_events.py FOLDER
"""
import sys

from tensorboard.backend.event_processing import event_accumulator

events = event_accumulator.EventAccumulator(sys.argv[1])
events.Reload()
tags = events.Tags()
for tag in sorted(tags["scalars"]):
    values = ", ".join(f"{e.step}: {e.value:.5g}" for e in events.Scalars(tag))
    print(f"scalar {tag} {values}")
for tag in sorted(tags["histograms"]):
    for e in events.Histograms(tag):
        h = e.histogram_value
        print(f"histogram {tag} {e.step}: {h.num:g} in [{h.min:.5g}, {h.max:.5g}]")
if tags["graph"]:
    for node in events.Graph().node:
        print(f"node {node.name} {node.op} {list(node.input)}")
