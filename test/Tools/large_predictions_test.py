# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans three large models without allocating a value, and checks docs/Decide.md.

    python large_predictions_test.py path/to/mesh-opt test/Scale docs/Decide.md [--update]

Every command of the page that begins with mesh-opt is run in the folder of the models.
Its output must be the block that follows it on the page; --update writes the page anew.
Then each model is planned for 1,024 and 4,096 GPUs, in at most 2 GB and 10 seconds of
processor time. Exit code 1 where anything differs.
"""
import os
import re
import resource
import subprocess
import sys

MODELS = ("gpt2", "decoder_70b", "moe_64")
# A command of the page and its output.
BLOCK = re.compile(r"```sh\n(mesh-opt [^\n]*)\n```\n\n```\n(.*?)```\n", re.DOTALL)


def run(tool, folder, command):
    return subprocess.run([tool, *command], cwd=folder, capture_output=True, text=True)


def check_page(tool, folder, page, update):
    with open(page) as file:
        text = file.read()
    wrong = []

    def output_of(match):
        done = run(tool, folder, match[1].split()[1:])
        if done.returncode or done.stdout != match[2]:
            wrong.append(f"{match[1]}\n{done.stdout}{done.stderr}")
        return f"```sh\n{match[1]}\n```\n\n```\n{done.stdout}```\n"

    found = BLOCK.sub(output_of, text)
    if update:
        with open(page, "w") as file:
            file.write(found)
        return []
    return wrong if BLOCK.search(text) else [f"{page} has no command of mesh-opt"]


def check_scale(tool, folder):
    wrong = []
    for model in MODELS:
        for devices in (1024, 4096):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = run(tool, folder, [f"{model}.mlir", "--machine=gpu:h100",
                                      f"--what-if=devices={devices}..{devices}"])
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            line = f"{model} on {devices} devices: {seconds:.1f} s, {after.ru_maxrss} kB"
            print(line)
            if done.returncode or seconds > 10 or after.ru_maxrss > 2e6:
                wrong.append(line + "\n" + done.stdout + done.stderr)
    return wrong


def main(tool, folder, page, update=""):
    tool = os.path.abspath(tool)
    wrong = check_page(tool, folder, page, update == "--update")
    wrong += check_scale(tool, folder)
    for text in wrong:
        print(f"WRONG: {text}")
    return bool(wrong)


sys.exit(main(*sys.argv[1:]))
