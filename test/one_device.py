# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs on one device: texts whose meshes have it alone, for plug-ins that have no more."""
import re


def on_one_device(text):
    """The text with every axis of every dtensor.mesh and sdy.mesh of one device. Bodies of
    shard_map, which say the shapes of shards, do not fit it any more."""
    def ones(match, pattern):
        return match.group(1) + re.sub(pattern, r"\g<1>1", match.group(2)) + match.group(3)

    text = re.sub(r"(dtensor\.mesh<)([^>]*)(>)", lambda m: ones(m, r"(=\s*)\d+"), text)
    return re.sub(r"(sdy\.mesh @\w+ = <\[)([^\]]*)(\])", lambda m: ones(m, r"(=\s*)\d+"), text)
