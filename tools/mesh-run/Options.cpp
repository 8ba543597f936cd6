// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Options.h"

#include "../CommandLine.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::run;

/// CLI11's own checks of numbers would quote the largest double at the user.
static CLI::Validator atLeast(int64_t least) {
  return CLI::Validator(
      [least](std::string &text) {
        int64_t value = 0;
        return CLI::detail::lexical_cast(text, value) && value >= least
                   ? ""
                   : fmt::format("expected an integer of at least {}, got {}",
                                 least, text);
      },
      "");
}

void run::addOptions(CLI::App &app, Options &options) {
  setUpCommandLine(app);
  app.add_option("PROGRAM", options.program,
                 "A program as text (.mlir), or a saved program (.mlprog). A "
                 "saved program holds native code, which runs when it is "
                 "loaded: load only programs that you trust");
  app.add_option("--function", options.function,
                 "The function to run (default: main, or the only function)");
  app.add_option("--platform", options.platform,
                 "The platform that runs it: cpu (default), cuda, reference, "
                 "or pjrt:PLUGIN.so");
  app.add_option("--machine", options.machine,
                 "The machine model: shared-memory (default), ring, "
                 "ring-latency, TPUs as in tpu:v5e:2x4, or a JSON file");
  app.add_flag("!--no-refine", options.refine,
               "Keep the layouts that propagation chooses");
  app.add_option(
         "--auto-layout", options.autoLayout,
         "Lay out the arguments that nobody laid out so that a step "
         "takes the least time on the machine; --auto-layout=BYTES: and "
         "a device holds at most so many bytes at a time")
      ->expected(0, 1)
      ->default_str("0")
      ->allow_extra_args(false)
      ->check(atLeast(0));
  app.add_flag("--reconsider", options.reconsider,
               "With --auto-layout, the layouts that arguments have are a "
               "start and may change. The program is never predicted to be "
               "slower than with them")
      ->needs("--auto-layout");
  app.add_option(
         "--mesh", options.mesh,
         "With --auto-layout, the mesh of a program that names none, as "
         "in x=2,y=4, or a number of devices, whose best mesh is found")
      ->needs("--auto-layout");
  app.add_option("--accumulate-gradients", options.microbatches,
                 "Run the batch of a step in so many microbatches and add up "
                 "their gradients")
      ->check(atLeast(1));
  app.add_option(
         "--pipeline", options.pipeline,
         "Run a training step in stages on devices of their own: the ops in "
         "the name scopes stage0, stage1, ..., each stage on the program's "
         "mesh. As in microbatches=8,schedule=1f1b,stages=4,scope=layer; the "
         "schedules are gpipe, 1f1b, interleaved (with sets=N of devices) and "
         "zero-bubble, and stages=N puts scopes together by predicted time")
      ->expected(0, 1)
      ->default_str("")
      ->allow_extra_args(false);
  app.add_flag(
      "--deterministic", options.deterministic,
      "Give the same bits for every mesh, layout, memory and number of "
      "workers");
  app.add_option("--input", options.inputs,
                 "A global value (.npy) for each argument, in order. Without "
                 "it, inputs are random: floats in [-1, 1), integers in [0, "
                 "8), or numbers in the argument's dtensor.range")
      ->allow_extra_args(false);
  app.add_option("--seed", options.seed,
                 "The seed of random inputs (default: 0)");
  app.add_option("--output-dir", options.outputDir,
                 "Write result_0.npy, ... into this folder");
  app.add_option("--stats", options.statsFile,
                 "Write collectives, memory and times, measured and "
                 "predicted, as JSON to this file");
  app.add_option("--calibrate", options.calibrate,
                 "Measure this machine for 20 seconds instead of running a "
                 "program, and write its machine model to this file (.json), "
                 "for --machine");
  app.add_flag("--compile-only", options.compileOnly,
               "Compile and load the program, and do not run it");
  app.add_flag("--timing", options.timing,
               "Print to the standard error where the time went: reading, each "
               "pass, code generation, loading, running");
  app.add_flag("--profile{-}", options.profile,
               "Run once, then profile the runs that follow and print their "
               "ten costliest steps; --profile=FILE writes a trace of each "
               "worker for ui.perfetto.dev instead");
  app.add_option("--emit-program", options.emitProgram,
                 "Save the compiled program (.mlprog)");
  app.add_option("--sign-key", options.signKey,
                 "Sign what --emit-program saves with the key in this file "
                 "(HMAC-SHA256, beside it as .sig)");
  app.add_option("--verify-key", options.verifyKey,
                 "Load a saved program only if it is signed with the key in "
                 "this file");
  app.add_flag("--saved", options.saved,
               "PROGRAM is a saved program, whatever its name");
  app.add_flag("--verify", options.verify,
               "Compare with the f64 reference interpreter; exit 1 on a "
               "difference, or where all results are nan throughout");
  app.add_flag(
      "--explain{-}", options.explain,
      "Print why each collective is there, and which alternative was rejected; "
      "--explain=FILE.html writes a page that shows the program, its layouts, "
      "collectives, memory and time, and with --profile what was measured; "
      "FILE.json writes the facts of that page");
  app.add_flag(
      "--suggest", options.suggest,
      "Print the changes of one layout annotation that save the most time, "
      "bytes sent and memory on the machine, and what the next best layout of "
      "each annotation costs");
  app.add_flag("--private-memories", options.privateMemories,
               "Give each device its own memory, so that collectives copy");
  app.add_flag("--print-callbacks", options.printCallbacks,
               "Print the arguments of the program's calls of Python "
               "(jax.debug.print); calls that return a value stay errors");
  app.add_flag("--check-finite", options.checkFinite,
               "Fail at the first step whose result is nan or infinite");
  app.add_option("--workers", options.workers,
                 "The number of threads (default: one a core)")
      ->check(atLeast(1));
  app.add_option("--repeat", options.repeat,
                 "How often to run the program (default: 1)")
      ->check(atLeast(1));
  app.add_option("--carry", options.carry,
                 "With --repeat: results from this number on (0, 1, ...) are "
                 "the first arguments of the next run, as a training step's "
                 "state")
      ->check(atLeast(0));
}
