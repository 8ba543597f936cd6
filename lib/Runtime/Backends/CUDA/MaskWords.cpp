// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MaskWords.h"

#include <utility>

using namespace meshloom;
using namespace meshloom::cuda;

namespace {
class MaskedAttention : public LibraryWork {
public:
  MaskedAttention(const Card &card, const MaskWords &words,
                  std::shared_ptr<const LibraryWork> attention)
      : card(card), words(words), attention(std::move(attention)) {}

  std::string_view function() const override { return attention->function(); }
  int64_t workspaceBytes() const override {
    return wordsOffset() + words.count * int64_t(sizeof(int32_t));
  }
  bool isInOrder() const override { return attention->isInOrder(); }
  Status enqueue(Commands &commands, std::span<char *const> operands,
                 char *workspace) const override;

private:
  int64_t wordsOffset() const {
    return paddedBytes(attention->workspaceBytes());
  }

  const Card &card;
  const MaskWords words;
  const std::shared_ptr<const LibraryWork> attention;
};
} // namespace

/// Loops that the words do not depend on have one iteration.
MaskWords::MaskWords(const AttentionMask &mask, const LoadedKernel &kernel,
                     size_t first, std::span<const int64_t> allExtents,
                     std::span<const int64_t> origins,
                     std::span<const plan::AccessElements> elements)
    : kernel(kernel), first(first), extents(allExtents.size(), 1),
      origins(origins.begin(), origins.end()) {
  for (size_t operand = 0; operand < mask.operands.size(); ++operand)
    strides.push_back(elements[first + operand].strides);
  std::vector<int64_t> &dense = strides.emplace_back(allExtents.size(), 0);
  for (size_t i = mask.loops.size(); i-- > 0;) {
    const unsigned loop = mask.loops[i];
    extents[loop] = allExtents[loop];
    dense[loop] = count;
    count *= extents[loop];
  }
}

Status MaskedAttention::enqueue(Commands &commands,
                                std::span<char *const> operands,
                                char *workspace) const {
  char *target = workspace + wordsOffset();
  std::vector<char *> pointers(
      operands.begin() + std::ptrdiff_t(words.first),
      operands.begin() +
          std::ptrdiff_t(words.first + words.strides.size() - 1));
  pointers.push_back(target);
  if (Status ok = launchKernel(commands, card, words.kernel,
                               {pointers, words.extents, words.origins,
                                [&](unsigned operand, unsigned loop) {
                                  return words.strides[operand][loop];
                                }});
      !ok)
    return ok;
  commands.join();
  std::vector<char *> tensors(operands.begin(), operands.end());
  tensors.push_back(target);
  return attention->enqueue(commands, tensors, workspace);
}

LibraryWorkOrError cuda::withMaskWords(const Card &card, const MaskWords &words,
                                       const LibraryWorkOrError &attention) {
  if (!attention || !*attention)
    return attention;
  if (!words.kernel.shape || words.count > MOST_RESULTS)
    return noLibraryWork();
  return std::shared_ptr<const LibraryWork>(
      std::make_shared<MaskedAttention>(card, words, *attention));
}
