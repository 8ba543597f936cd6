// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PtxNames.h"

namespace meshloom::ptx {

const std::map<std::string_view, Op> opNames = {
    {"abs", Op::Abs},   {"add", Op::Add},    {"and", Op::And},
    {"bfe", Op::Bfe},   {"bfi", Op::Bfi},    {"brev", Op::Brev},
    {"clz", Op::Clz},   {"cvt", Op::Cvt},    {"cvta", Op::Cvta},
    {"div", Op::Div},   {"fma", Op::Fma},    {"mad", Op::Mad},
    {"max", Op::Max},   {"min", Op::Min},    {"mov", Op::Mov},
    {"mul", Op::Mul},   {"neg", Op::Neg},    {"not", Op::Not},
    {"or", Op::Or},     {"popc", Op::Popc},  {"prmt", Op::Prmt},
    {"rcp", Op::Rcp},   {"rem", Op::Rem},    {"selp", Op::Selp},
    {"setp", Op::Setp}, {"shf", Op::Shf},    {"shl", Op::Shl},
    {"shr", Op::Shr},   {"sqrt", Op::Sqrt},  {"sub", Op::Sub},
    {"xor", Op::Xor},   {"testp", Op::Testp}};

const std::map<std::string_view, Compare> compareNames = {
    {"eq", Compare::Eq},   {"ne", Compare::Ne},   {"lt", Compare::Lt},
    {"le", Compare::Le},   {"gt", Compare::Gt},   {"ge", Compare::Ge},
    {"equ", Compare::Equ}, {"neu", Compare::Neu}, {"ltu", Compare::Ltu},
    {"leu", Compare::Leu}, {"gtu", Compare::Gtu}, {"geu", Compare::Geu},
    {"num", Compare::Num}, {"nan", Compare::Nan}};

const std::map<std::string_view, Special> specialNames = {
    {"%tid.x", Special::Thread},
    {"%ntid.x", Special::Threads},
    {"%ctaid.x", Special::Block},
    {"%nctaid.x", Special::Blocks}};

unsigned countOperands(Op op) {
  switch (op) {
  case Op::Abs:
  case Op::Brev:
  case Op::Clz:
  case Op::Cvt:
  case Op::Cvta:
  case Op::Mov:
  case Op::Neg:
  case Op::Not:
  case Op::Popc:
  case Op::Rcp:
  case Op::Sqrt:
  case Op::Testp:
    return 1;
  case Op::Bfe:
  case Op::Fma:
  case Op::Mad:
  case Op::Prmt:
  case Op::Selp:
  case Op::Shf:
    return 3;
  case Op::Bfi:
    return 4;
  default:
    return 2;
  }
}

bool isOfThreads(Op op) {
  switch (op) {
  case Op::BarSync:
  case Op::Bra:
  case Op::Ld:
  case Op::Mma:
  case Op::Ret:
  case Op::SetCondition:
  case Op::ShflDown:
  case Op::St:
  case Op::Unpack:
    return true;
  default:
    return false;
  }
}

} // namespace meshloom::ptx
