// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MaskWords.h"

#include <array>
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

MaskWords MaskWords::of(const DnnMatrices &mask, const LoadedKernel &kernel,
                        size_t number) {
  MaskWords words{kernel, mask.operand, 1, mask};
  for (size_t dim = 0; dim < mask.extents.size(); ++dim)
    words.count += (mask.extents[dim] - 1) * mask.strides[dim];
  constexpr int64_t alignment = 16;
  words.tensor.operand = number;
  words.tensor.type = DType::I32;
  words.tensor.alignment = alignment;
  return words;
}

Status MaskedAttention::enqueue(Commands &commands,
                                std::span<char *const> operands,
                                char *workspace) const {
  char *target = workspace + wordsOffset();
  const std::array pointers{operands[words.operand], target};
  const std::array extents{words.count};
  const std::array<int64_t, 1> origin{};
  if (Status ok = launchKernel(
          commands, card, words.kernel,
          {pointers, extents, origin, [](unsigned, unsigned) { return 1; }});
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
  if (words.count > MOST_RESULTS)
    return noLibraryWork();
  return std::shared_ptr<const LibraryWork>(
      std::make_shared<MaskedAttention>(card, words, *attention));
}
