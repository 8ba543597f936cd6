# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the programs of this folder on the platform cuda, on the stand-in driver, each held
against the reference interpreter.

  python run_on_cuda.py path/to/mesh-run STAND_IN_DRIVER STAND_IN_NCCL STAND_IN_CUBLASLT STAND_IN_CUDNN
                        STAND_IN_CUFFT STAND_IN_CUSOLVER STAND_IN_CUBLAS [name ...]

Work is done in another legal order for each program. Programs with work for NVIDIA's other
libraries run once more, with these (three of them with these alone), and some programs also on four
cards, which exchange values by NCCL or by copies from each other. Exit code 0 when every result is right.
"""
import os
import sys

from run_on_plugin import FOLDER, failures


# Programs whose collectives are of all kinds.
EXCHANGING = {"relayouts": "nccl", "partial_values": "peer", "mlp_two_axes": "nccl",
              "reductions_uneven": "nccl", "megatron_mlp": "peer"}

# Ops of which a library does at least a part.
OF_LIBRARIES = ["dot_general", "convolution", "fft", "cholesky", "triangular_solve", "geqrf", "eigh", "svd"]

# The kernels of products are mnist_mlp_step's, and those of convolutions conv_spatial's.
ONLY_WITH_LIBRARIES = {"conv_wide", "mnist_mlp_step_sharded", "mnist_mlp_step_tensor"}
# Most of its time goes into sums.
ONLY_WITH_KERNELS = {"long_sums"}

# Programs that are large for the workers of a CPU take the stand-in 5 to 60 seconds each;
# scatter_blocks, scatter_types, orders and sorted_blocks have the same kernels.
TOO_LARGE = {"scatter_parts", "long_orders", "long_top_k"}


def main():
    tool, driver, nccl = sys.argv[1:4]
    libraries = "".join(f",{option}={path}" for option, path in
                        zip(("cublaslt", "cudnn", "cufft", "cusolver", "cublas"), sys.argv[4:9]))
    names = sys.argv[9:]
    programs = names or sorted(name[:-5] for name in os.listdir(FOLDER) if name.endswith(".mlir"))
    wrong = 0
    for seed, name in enumerate(programs):
        path = os.path.join(FOLDER, name + ".mlir")
        with open(path) as file:
            text = file.read()
        if "func.func" not in text:  # a test of other files
            continue
        if name in TOO_LARGE and not names:
            continue
        os.environ["MESHLOOM_STANDIN"] = f"seed={seed}"
        found = []
        if name not in ONLY_WITH_LIBRARIES:
            found += failures(tool, path, f"cuda:driver={driver}")
        if name not in ONLY_WITH_KERNELS and any(f"dtensor.{op} " in text for op in OF_LIBRARIES):
            found += failures(tool, path, f"cuda:driver={driver}{libraries}")
        if name in EXCHANGING:
            os.environ["MESHLOOM_STANDIN"] = f"gpus=4,seed={seed}"
            found += failures(tool, path, f"cuda:driver={driver},nccl={nccl},logical-gpus=2,"
                                          f"exchange={EXCHANGING[name]}")
        wrong += bool(found)
        print(name, "WRONG" if found else "ok", *(line[:200] for line in found), flush=True)
    print(f"{wrong} programs are wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
