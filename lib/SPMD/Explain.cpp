// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --explain: reads what the passes noted on collectives, in the order of the
// program, and prices them.
#include "Explain.h"
#include "meshloom/Dialect/DTensor/FunctionLayouts.h"
#include "meshloom/Dialect/DTensor/Notes.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

namespace {

/// One value of a collective, with what is known about it.
struct Member {
  CollectiveOp what;
  std::string type, location, op, reason, rejected;
  int64_t countedBytes, globalBytes;
};

struct Printed {
  Operation *op;
  std::vector<Member> members;
  int64_t sent = 0;
  Cost cost = 0;
  /// How often in one execution, where that is known.
  std::optional<int64_t> times = 1;
};

/// "in the body of the while at f.mlir:3:8, 6 times", "in branch #1 of the case
/// at ..."; nothing outside of loops and branches.
std::string placeText(const Printed &printed) {
  std::string text;
  for (Operation *inner = printed.op, *outer; (outer = inner->getParentOp());
       inner = outer) {
    if (!isControl(outer))
      continue;
    unsigned region = inner->getParentRegion()->getRegionNumber();
    text += text.empty() ? "in " : ", in ";
    if (isa<dtensor::WhileOp>(outer))
      text += region == 0 ? "the condition" : "the body";
    else
      text += "branch #" + std::to_string(region);
    text += " of the " + outer->getName().stripDialect().str() + " at " +
            locationText(outer->getLoc());
  }
  if (text.empty())
    return text;
  if (!printed.times)
    return text + ", as often as it goes round";
  return text + ", " + std::to_string(*printed.times) +
         (*printed.times == 1 ? " time" : " times");
}

std::string typeText(Type type) {
  std::string text = "tensor<";
  for (int64_t extent : spmd::globalShape(type))
    text += std::to_string(extent) + "x";
  return text +
         std::string(name(*dtensor::dtypeOf(dtensor::elementTypeOf(type)))) +
         ">";
}

Member memberOf(spmd::CollectiveOpInterface collective, unsigned index) {
  Operation *op = collective;
  Type type = op->getResult(index).getType();
  SmallVector<int64_t> dims = spmd::globalShape(type);
  Shape shape(dims.begin(), dims.end());
  DType dtype = *dtensor::dtypeOf(dtensor::elementTypeOf(type));
  CollectiveOp what = collective.getCollective(index);
  Member member{
      what,
      typeText(type),
      locationText(op->getLoc()),
      "",
      "",
      "",
      spmd::transferBytes(what.kind, op->getOperand(index).getType(), type),
      globalBytes(shape, dtype)};
  DictionaryAttr notes = op->getAttrDictionary();
  if (auto members = op->getAttrOfType<mlir::ArrayAttr>(dtensor::membersAttr);
      members && index < members.size())
    if (auto own = dyn_cast<DictionaryAttr>(members[index]))
      notes = own;
  auto note = [&](StringRef name, std::string &text) {
    if (auto found = notes.getAs<StringAttr>(name))
      text = found.str();
  };
  note("location", member.location);
  note(dtensor::consumerAttr, member.op);
  note("reason", member.reason);
  note(dtensor::rejectedAttr, member.rejected);
  return member;
}

/// In shared memory a result that only moves is a view, that nobody waits for.
bool isViewAtEnd(spmd::CollectiveOpInterface collective,
                 const MachineModel &machine) {
  return machine.sharedMemory && !collective.getReduceKind() &&
         llvm::all_of(collective->getUsers(), [](Operation *user) {
           return isa<mlir::func::ReturnOp>(user);
         });
}

bool isViewOfArguments(spmd::CollectiveOpInterface collective,
                       const MachineModel &machine) {
  return machine.sharedMemory && !collective.getReduceKind() &&
         llvm::all_of(collective->getOperands(),
                      [](Value value) { return isa<BlockArgument>(value); });
}

Printed describe(spmd::CollectiveOpInterface collective,
                 const MachineModel &machine) {
  Printed printed{collective, {}};
  for (unsigned i = 0; i < collective->getNumResults(); ++i) {
    Member member = memberOf(collective, i);
    printed.sent +=
        bytesSent(member.what.kind, member.countedBytes,
                  groupSize(member.what.from.mesh(), member.what.axes));
    printed.cost +=
        machine.transfer(member.what, member.countedBytes, member.globalBytes);
    // One message, whatever the number of values; what is there from the start
    // is looked at without waiting.
    if (i == 0 && !isViewOfArguments(collective, machine))
      printed.cost += machine.overhead(member.what);
    printed.members.push_back(std::move(member));
  }
  // One device may do much for one value, another for the next.
  if (collective.getCollectiveKind() == CollectiveKind::HaloExchange)
    printed.sent = collective.getResultBytes();
  if (isViewAtEnd(collective, machine))
    printed.cost = 0;
  return printed;
}

void printMember(const Member &member, bool refined, raw_ostream &os) {
  os << "     " << member.type << " at " << member.location;
  if (!member.op.empty())
    os << " for " << member.op;
  os << "\n       " << member.what.from.spec_string() << " -> "
     << member.what.to.spec_string() << ", " << member.countedBytes << " bytes";
  // Never a fallback: the cheapest way, and told.
  if (member.what.kind == CollectiveKind::AllGather &&
      member.what.to.is_fully_replicated())
    os << ", the whole value on every device";
  os << "\n";
  if (!member.reason.empty())
    os << "       why: " << member.reason << "\n";
  if (!member.rejected.empty())
    os << "       rejected: " << member.rejected << "\n";
  else if (!refined)
    os << "       rejected: not looked for (refine=false)\n";
  else
    os << "       rejected: nothing, no axis could be elsewhere\n";
}

/// What became of the meshes that the program was written on, and what it does
/// not get that it asks for.
void explainMeshes(mlir::func::FuncOp function, raw_ostream &os) {
  FailureOr<Mesh> mesh = onlyMesh(function);
  SmallVector<Mesh> written = dtensor::writtenMeshes(function);
  if (succeeded(mesh) && written.size() > 1) {
    os << "  runs on mesh " << mesh->spec_string() << ":";
    for (auto [i, own] : llvm::enumerate(written)) {
      os << (i ? "; " : " ") << own.spec_string() << " is";
      for (unsigned axis = 0; axis < own.rank(); ++axis) {
        auto found = axesOn(own, {&axis, 1}, *mesh);
        os << (axis ? ", " : " ") << own.axes()[axis].name << " = {";
        if (found)
          llvm::interleaveComma(mergedNames(*mesh, *found), os);
        os << "}";
      }
    }
    os << "\n";
  }
  if (auto notes = function->getAttrOfType<mlir::ArrayAttr>(dtensor::notesAttr))
    for (auto note : notes.getAsRange<StringAttr>())
      os << "  not as asked: " << note.getValue() << "\n";
}

} // namespace

void explainCollectives(mlir::func::FuncOp function,
                        const MachineModel &machine, raw_ostream &os) {
  auto refined = function->getAttrOfType<mlir::ArrayAttr>(dtensor::refinedAttr);

  std::vector<Printed> all;
  int64_t sent = 0;
  Cost cost = 0;
  bool unknown = false;
  function.walk([&](spmd::CollectiveOpInterface collective) {
    if (collective.getCollectiveKind() == CollectiveKind::Slice)
      return;
    all.push_back(describe(collective, machine));
    all.back().times = executions(collective);
    int64_t times = all.back().times.value_or(1);
    unknown |= !all.back().times;
    sent += all.back().sent * times;
    cost += all.back().cost * times;
  });
  os << "@" << function.getName() << " on " << machine.name << ": "
     << all.size() << (all.size() == 1 ? " collective" : " collectives") << ", "
     << sent << " bytes sent by each device, " << formatTime(cost) << "\n";
  explainMeshes(function, os);
  for (auto [index, printed] : llvm::enumerate(all)) {
    const Member &first = printed.members.front();
    const Mesh &mesh = first.what.from.mesh();
    os << "  " << index + 1 << ". " << name(first.what.kind);
    if (auto kind =
            cast<spmd::CollectiveOpInterface>(printed.op).getReduceKind())
      os << " " << name(*kind);
    os << " over [";
    llvm::interleaveComma(mergedNames(mesh, first.what.axes), os);
    os << "]: ";
    int64_t bytes = 0;
    for (const Member &member : printed.members)
      bytes += member.countedBytes;
    os << bytes << " bytes, " << printed.sent << " sent, "
       << formatTime(printed.cost);
    if (printed.members.size() > 1)
      os << ", combines " << printed.members.size() << " values";
    os << "\n";
    if (std::string place = placeText(printed); !place.empty())
      os << "     " << place << "\n";
    for (const Member &member : printed.members)
      printMember(member, bool(refined), os);
  }
  if (!refined)
    return;
  for (auto [index, note] : llvm::enumerate(refined))
    os << (index ? "    " : "  refinement: ") << cast<StringAttr>(note).str()
       << "\n";
}

} // namespace meshloom
