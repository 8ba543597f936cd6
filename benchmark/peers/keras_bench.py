# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keras on TensorFlow: fit under MirroredStrategy over N virtual CPUs.

  python keras_bench.py line|mlp|convnet --devices 8 --batch 32 --steps 100

One JSON line for fit, and one with steps_per_execution=50. Models, inputs and
losses are those of fit_step. --devices 1: without a strategy.
"""
import argparse
import contextlib
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
parser = argparse.ArgumentParser()
parser.add_argument("case", choices=["line", "mlp", "convnet"])
parser.add_argument("--devices", type=int, default=8)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--rounds", type=int, default=5)
args = parser.parse_args()

import numpy as np
import tensorflow as tf

from common import glorot, learnable_batch, report

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * args.devices)
layers = tf.keras.layers


def make_model():
    if args.case == "line":
        return tf.keras.Sequential([tf.keras.Input((1,)), layers.Dense(1)])
    if args.case == "mlp":
        return tf.keras.Sequential([
            tf.keras.Input((784,)), layers.Dense(256, activation="relu"),
            layers.Dense(256, activation="relu"), layers.Dense(10)])
    l2 = tf.keras.regularizers.L2(1e-5)
    return tf.keras.Sequential([
        tf.keras.Input((28, 28, 1)),
        layers.Conv2D(256, 3, activation="relu", kernel_regularizer=l2),
        layers.Conv2D(256, 3, activation="relu", kernel_regularizer=l2),
        layers.Flatten(),
        layers.Dense(256, activation="relu", kernel_regularizer=l2),
        layers.Dense(128, activation="relu", kernel_regularizer=l2),
        layers.Dense(10, kernel_regularizer=l2)])


def set_weights(model):
    values, seed = [], 10
    for weight in model.weights:
        shape = tuple(weight.shape)
        if len(shape) < 2:
            values.append(np.zeros(shape, np.float32))
            continue
        places = int(np.prod(shape[:-2]))
        values.append(glorot(places * shape[-2], places * shape[-1], shape, seed))
        seed += 1
    model.set_weights(values)


if args.case == "line":
    x = y = np.ones((args.batch, 1), np.float32)
else:
    x, y = learnable_batch(args.batch, 784, 1)
    if args.case == "convnet":
        x = x.reshape(-1, 28, 28, 1)
# A batch for each step, already made.
dataset = tf.data.Dataset.from_tensors((x, y)).repeat()


def fit(name, steps_per_execution):
    strategy = tf.distribute.MirroredStrategy(
        [f"CPU:{i}" for i in range(args.devices)],
        cross_device_ops=tf.distribute.ReductionToOneDevice())
    with strategy.scope() if args.devices > 1 else contextlib.nullcontext():
        model = make_model()
        if args.case == "line":
            options = dict(optimizer=tf.keras.optimizers.SGD(0.01), loss="mse", metrics=["mae"])
        else:
            options = dict(
                optimizer=tf.keras.optimizers.Adam(1e-3, epsilon=1e-12),
                loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                metrics=["sparse_categorical_accuracy"])
        model.compile(steps_per_execution=steps_per_execution, **options)
        set_weights(model)
    losses = []
    if steps_per_execution == 1:
        for _ in range(10):
            model.reset_metrics()
            losses.append(float(model.train_on_batch(x, y)[0]))
    wall, cpu_times = [], []
    for _ in range(args.rounds + 1):
        begin, used = time.perf_counter(), time.process_time()
        model.fit(dataset, epochs=1, steps_per_epoch=args.steps, verbose=0)
        wall.append((time.perf_counter() - begin) * 1e3 / args.steps)
        cpu_times.append((time.process_time() - used) * 1e3 / args.steps)
    # The first one compiles.
    report(peer="keras", version=tf.__version__, case=name, devices=args.devices,
           batch=args.batch, step_ms_best=min(wall[1:]),
           step_ms_median=float(np.median(wall[1:])),
           cpu_ms_median=float(np.median(cpu_times[1:])),
           **({"loss_1": losses[0], "loss_10": losses[9]} if losses else {}))


fit("fit", 1)
if args.steps >= 50:
    fit("fit, 50 steps a call", 50)
