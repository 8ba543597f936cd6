// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One walk over the function. Values are numbered as they are defined; types,
// attributes and locations, of which there are few, are written as text where
// they are first met and as numbers from then on, so that the cost is that of
// the ops.
#include "Fingerprint.h"

#include "meshloom/Support/LLVM.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

using namespace meshloom;

namespace {
class Hasher {
public:
  void add(StringRef text) {
    add(uint64_t(text.size()));
    pending.append(text.begin(), text.end());
    flush();
  }
  void add(uint64_t number) {
    const char *bytes = reinterpret_cast<const char *>(&number);
    pending.append(bytes, bytes + sizeof number);
    flush();
  }
  void add(Type type) {
    if (isNew(type.getAsOpaquePointer()))
      addText(type);
  }
  void add(Location loc) {
    if (isNew(mlir::LocationAttr(loc).getAsOpaquePointer()))
      addText(mlir::LocationAttr(loc));
  }
  void add(Attribute attribute) {
    if (!isNew(attribute.getAsOpaquePointer()))
      return;
    // Numbers of tensors as they are; text of them would be long, and may be
    // cut short by an option of MLIR's.
    attribute.walk([&](Attribute part) {
      if (auto dense = dyn_cast<mlir::DenseIntOrFPElementsAttr>(part)) {
        ArrayRef<char> bytes = dense.getRawData();
        add(dense.getType());
        add(uint64_t(dense.isSplat()));
        add(StringRef(bytes.data(), bytes.size()));
      } else if (isa<mlir::ElementsAttr>(part) &&
                 !isa<mlir::DenseArrayAttr>(part)) {
        complete = false;
      }
    });
    if (!isa<mlir::DenseIntOrFPElementsAttr>(attribute))
      addText(attribute);
  }

  void add(Operation *op) {
    add(op->getName().getStringRef());
    add(op->getLoc());
    add(uint64_t(op->getNumOperands()));
    for (Value operand : op->getOperands())
      add(uint64_t(numbers.lookup(operand)));
    add(Attribute(op->getAttrDictionary()));
    add(uint64_t(op->getNumResults()));
    for (Value result : op->getResults())
      define(result);
    add(uint64_t(op->getNumRegions()));
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        add(uint64_t(block.getNumArguments()));
        for (BlockArgument argument : block.getArguments()) {
          define(argument);
          add(argument.getLoc());
        }
        for (Operation &inner : block)
          add(&inner);
        add(uint64_t(0));
      }
  }

  std::optional<std::string> finish() {
    if (!complete)
      return std::nullopt;
    hasher.update(pending.str());
    return llvm::toHex(hasher.final<16>(), /*LowerCase=*/true);
  }

private:
  /// Writes the number of what was met before.
  bool isNew(const void *pointer) {
    auto [place, added] = met.try_emplace(pointer, met.size() + 1);
    add(place->second);
    return added;
  }
  template <typename T> void addText(T printed) {
    std::string text;
    llvm::raw_string_ostream os(text);
    printed.print(os);
    add(StringRef(text));
  }
  void define(Value value) {
    numbers.try_emplace(value, numbers.size() + 1);
    add(value.getType());
  }
  void flush() {
    if (pending.size() < 1 << 16)
      return;
    hasher.update(pending.str());
    pending.clear();
  }

  llvm::BLAKE3 hasher;
  llvm::SmallString<0> pending;
  DenseMap<const void *, uint64_t> met;
  DenseMap<Value, uint64_t> numbers;
  bool complete = true;
};
} // namespace

std::optional<std::string> meshloom::fingerprint(mlir::func::FuncOp function,
                                                 StringRef options) {
  Hasher hasher;
  hasher.add(options);
  if (auto module = function->getParentOfType<ModuleOp>()) {
    hasher.add(Attribute(module->getDiscardableAttrDictionary()));
    hasher.add(module.getLoc());
  }
  hasher.add(function.getOperation());
  return hasher.finish();
}
