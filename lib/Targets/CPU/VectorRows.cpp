// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops whose iterations read a short row each:
//
//   for (i = 0; i < count; ++i)
//     result[i] = f(rows[i * stride], ..., rows[i * stride + stride - 1])
//
// A lane is a row, so that a vector is a column. As many columns as a vector
// has lanes are loaded at once: the rows lie side by side. LLVM's vectoriser
// loads numbers one by one instead, `lanes` times `stride` of them, which takes
// ten times as long to compile and longer to run.
#include "VectorLoop.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

using namespace meshloom;

/// The longest rows whose elements stay in registers.
static constexpr unsigned longestRow = 16;
/// Lanes of a vector that shuffles of one instruction do not leave.
static constexpr unsigned groupBits = 128;

//===----------------------------------------------------------------------===//
// Finding rows
//===----------------------------------------------------------------------===//

std::optional<RowElement> VectorLoop::rowElementAt(llvm::Value *pointer,
                                                   llvm::Type *type) const {
  using namespace llvm::PatternMatch;
  auto isElement = [&](llvm::GetElementPtrInst *address) {
    return address && address->getNumIndices() == 1 &&
           address->getSourceElementType() == type;
  };
  uint64_t column = 0, stride = 0;
  // The column is added to the row's address, or to that of all rows.
  auto takeColumn = [&](llvm::Value *&place) {
    uint64_t added = 0;
    auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(place);
    if (!isElement(address) ||
        !match(address->getOperand(1), m_ConstantInt(added)))
      return;
    column += added;
    place = address->getPointerOperand();
  };
  takeColumn(pointer);
  auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
  if (!isElement(address) || !isUniform(address->getPointerOperand()) ||
      !match(address->getOperand(1),
             m_c_Mul(m_Specific(index), m_ConstantInt(stride))))
    return std::nullopt;
  llvm::Value *rows = address->getPointerOperand();
  takeColumn(rows);
  if (stride < 2 || stride > longestRow || column >= stride)
    return std::nullopt;
  return RowElement{rows, type, unsigned(stride), unsigned(column)};
}

bool VectorLoop::isRowOffset(llvm::Instruction &instruction) const {
  using namespace llvm::PatternMatch;
  return match(&instruction, m_c_Mul(m_Specific(index), m_ConstantInt())) &&
         llvm::all_of(instruction.users(), [](llvm::User *user) {
           return llvm::isa<llvm::GetElementPtrInst>(user);
         });
}

bool VectorLoop::addRowElement(llvm::LoadInst &load,
                               const RowElement &element) {
  // Rows that are read after a store may have been changed.
  if (element.type->getScalarSizeInBits() < 16 ||
      (!accesses.empty() && llvm::isa<llvm::StoreInst>(accesses.back())))
    return false;
  hasMasks &= target.isLegalMaskedLoad(element.type, load.getAlign());
  rowElements.try_emplace(&load, element);
  accesses.push_back(&load);
  instructions.push_back(&load);
  return true;
}

bool VectorLoop::takesRows() const {
  return llvm::all_of(rowElements, [&](const auto &one) {
    const RowElement &row = one.second;
    uint64_t columns = 0;
    for (const auto &[load, element] : rowElements)
      if (element.isOfRowsOf(row))
        columns |= uint64_t(1) << element.column;
    // LLVM's loops over rows that fill vectors read memory faster.
    const bool fillsVectors = row.stride == 2 * lanes ||
                              (row.stride == lanes && row.type->isIntegerTy());
    return !fillsVectors &&
           columns == llvm::maskTrailingOnes<uint64_t>(row.stride);
  });
}

//===----------------------------------------------------------------------===//
// Rows become columns
//===----------------------------------------------------------------------===//

namespace {
/// Loads as many rows as a vector has lanes.
class RowLoader {
public:
  RowLoader(llvm::FixedVectorType *vector, llvm::Value *first, unsigned stride,
            llvm::IRBuilder<> &b)
      : vector(vector), first(first), stride(stride),
        lanes(vector->getNumElements()),
        group(std::max(1U, groupBits / vector->getScalarSizeInBits())), b(b) {}

  /// Returns columns by their numbers, among them number `column`; null for
  /// those that are not loaded yet.
  SmallVector<llvm::Value *> columnsAround(unsigned column) {
    // A few columns are picked out of all rows by fewer shuffles than it takes
    // to transpose these.
    const unsigned few = vector->getScalarSizeInBits() < 32 ? 8 : 6;
    return stride <= few ? pickedColumns()
                         : transposedColumns(column / group * group);
  }

private:
  using Values = SmallVector<llvm::Value *>;

  /// Returns `count` elements of the rows from number `offset` on, without
  /// those that are behind the last row.
  llvm::Value *load(unsigned offset, unsigned count) {
    llvm::Type *type = vector->getElementType();
    auto *loaded = llvm::FixedVectorType::get(type, count);
    llvm::Value *address =
        b.CreateConstInBoundsGEP1_64(type, first, uint64_t(offset));
    const llvm::Align alignment(type->getScalarSizeInBits() / 8);
    const unsigned remaining = lanes * stride - offset;
    if (remaining >= count)
      return b.CreateAlignedLoad(loaded, address, alignment);
    SmallVector<llvm::Constant *> mask;
    for (unsigned lane = 0; lane < count; ++lane)
      mask.push_back(b.getInt1(lane < remaining));
    return b.CreateMaskedLoad(loaded, address, alignment,
                              llvm::ConstantVector::get(mask));
  }

  /// Returns a vector of those lanes of two vectors that `source` numbers.
  llvm::Value *shuffle(llvm::Value *x, llvm::Value *y,
                       function_ref<int(unsigned)> source) {
    SmallVector<int> mask;
    for (unsigned lane = 0; lane < lanes; ++lane)
      mask.push_back(source(lane));
    return b.CreateShuffleVector(x, y, mask);
  }

  /// Picks the elements of each column out of all rows.
  Values pickedColumns() {
    llvm::Value *rows = load(/*offset=*/0, lanes * stride);
    Values columns;
    for (unsigned column = 0; column < stride; ++column)
      columns.push_back(b.CreateShuffleVector(
          rows, llvm::createStrideMask(column, stride, lanes)));
    return columns;
  }

  /// Returns the columns from number `begin` on, as many as a group has lanes.
  /// A group of a vector is a part of one row.
  Values transposedColumns(unsigned begin) {
    Values rows;
    for (unsigned row = 0; row < group; ++row) {
      Values parts;
      for (unsigned part = row; part < lanes; part += group)
        parts.push_back(load(part * stride + begin, group));
      rows.push_back(llvm::concatenateVectors(b, parts));
    }
    rows = transposeGroups(std::move(rows));
    Values columns(stride);
    for (unsigned column = begin; column < std::min(begin + group, stride);
         ++column)
      columns[column] = rows[column - begin];
    return columns;
  }

  /// Transposes the squares that groups of as many vectors are.
  Values transposeGroups(Values rows) {
    for (unsigned unit = 1; unit < group; unit *= 2) {
      Values next(rows.size());
      for (unsigned row = 0; row < rows.size(); row += 2 * unit)
        for (unsigned k = 0; k < unit; ++k)
          for (unsigned half : {0U, 1U})
            next[row + 2 * k + half] = shuffle(
                rows[row + k], rows[row + unit + k], [&](unsigned lane) {
                  const unsigned within = lane % group, from = within / unit;
                  return int((from % 2 == 0 ? 0 : lanes) + lane - within +
                             from / 2 * unit + half * group / 2 +
                             within % unit);
                });
      rows = std::move(next);
    }
    return rows;
  }

  llvm::FixedVectorType *vector;
  llvm::Value *first; ///< the address of the first row
  unsigned stride, lanes;
  unsigned group; ///< lanes of a group
  llvm::IRBuilder<> &b;
};
} // namespace

void VectorLoop::loadRows(const RowElement &element, llvm::Value *first,
                          Vectors &vectors, llvm::IRBuilder<> &b) {
  llvm::Value *offset = b.CreateMul(first, b.getInt64(element.stride));
  RowLoader loader(
      llvm::cast<llvm::FixedVectorType>(vectorOf(element.type)),
      b.CreateInBoundsGEP(element.type, scalar(element.rows), offset),
      element.stride, b);
  const SmallVector<llvm::Value *> columns =
      loader.columnsAround(element.column);
  for (const auto &[load, other] : rowElements)
    if (other.isOfRowsOf(element) && columns[other.column])
      vectors[load] = columns[other.column];
}
