// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trained layers in another form: fine-tuned by a low-rank product (LoRA), or
// quantised for inference. Each function changes Dense, EinsumDense and
// Embedding layers: one of them, or all that a layer or model is made of.
//
//   enable_lora(model, 4);       // trains two thin matrices for each kernel
//   model.fit(dataset);
//   merge_lora(model);           // kernels with what was learnt
//   quantize(model, "int8");     // a quarter of the memory
#pragma once

#include "meshloom/NN/Layers/Layer.h"

namespace meshloom {

/// The options of enable_lora.
struct LoraOptions {
  /// The product is multiplied by alpha / rank. None: 1.
  std::optional<double> alpha = std::nullopt;
  initializers::Initializer a_initializer = "he_uniform"; ///< of A
  initializers::Initializer b_initializer = "zeros";      ///< of B
};
/// Freezes each kernel and adds alpha / rank A B to it: A [..., rank] and B
/// [rank, out] are the weights "lora_kernel_a" and "lora_kernel_b" (of an
/// Embedding "lora_embeddings_a" and "lora_embeddings_b"), which are trained
/// instead (Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models",
/// 2021). Their layouts are those of the kernel's dims. Configs and checkpoints
/// have them. Throws meshloom::Error if there is no such layer, or one is not
/// built, has a constraint, is quantised or has LoRA already.
void enable_lora(const Layer &layer, int64_t rank, LoraOptions options = {},
                 Where where = Where::current());

/// Adds each low-rank product to its kernel, which is trained again, and ends
/// LoRA. Throws meshloom::Error if no layer has it.
void merge_lora(const Layer &layer, Where where = Where::current());

/// Replaces each kernel by numbers of one byte, for inference. "int8" gives
/// integers: a kernel has one scale, 127 over the largest absolute value, for
/// each index of its dims that are not summed over (an Embedding for each row);
/// inputs are scaled so in each call. "float8" gives floats of four bits of
/// exponent and three of mantissa (e4m3fn), for Dense and EinsumDense alone: a
/// kernel has one scale, its largest absolute value over 448, and so have the
/// inputs of a call. These are the numbers of Keras with such scales. Products
/// sum in f32. The kernel is not trained any more; gradients flow to the inputs
/// as if it were floats. Throws meshloom::Error for another mode, or if there
/// is no such layer, or one is not built, has LoRA or is quantised already.
void quantize(const Layer &layer, const std::string &mode,
              Where where = Where::current());

} // namespace meshloom
