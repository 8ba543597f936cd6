// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Conditions.h"

#include <array>

using namespace meshloom;
using namespace meshloom::cuda;

/// The driver's compiler has the function cudaGraphSetConditional.
static constexpr const char *conditionKernels = R"(
.version 7.8
.target sm_80
.address_size 64

.extern .func cudaGraphSetConditional
(
	.param .b64 cudaGraphSetConditional_param_0,
	.param .b32 cudaGraphSetConditional_param_1
)
;

// flags, how many they are, handle
.visible .entry set_loop(
	.param .u64 set_loop_param_0,
	.param .u64 set_loop_param_1,
	.param .u64 set_loop_param_2
)
.maxntid 1, 1, 1
{
	.reg .pred 	%p<3>;
	.reg .b16 	%rs<2>;
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<4>;

	ld.param.u64 	%rd1, [set_loop_param_0];
	ld.param.u64 	%rd2, [set_loop_param_1];
	ld.param.u64 	%rd3, [set_loop_param_2];
	mov.u32 	%r1, 0;
$next:
	ld.global.u8 	%rs1, [%rd1];
	cvt.u32.u16 	%r2, %rs1;
	or.b32 	%r1, %r1, %r2;
	add.s64 	%rd1, %rd1, 1;
	add.s64 	%rd2, %rd2, -1;
	setp.ne.s64 	%p1, %rd2, 0;
	@%p1 bra 	$next;
	setp.ne.u32 	%p2, %r1, 0;
	selp.u32 	%r3, 1, 0, %p2;
	{
	.param .b64 param0;
	st.param.b64 	[param0], %rd3;
	.param .b32 param1;
	st.param.b32 	[param1], %r3;
	call.uni 	cudaGraphSetConditional, (param0, param1);
	}
	ret;
}

// index, branch, last branch, handle
.visible .entry set_branch(
	.param .u64 set_branch_param_0,
	.param .u64 set_branch_param_1,
	.param .u64 set_branch_param_2,
	.param .u64 set_branch_param_3
)
.maxntid 1, 1, 1
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<3>;
	.reg .b64 	%rd<7>;

	ld.param.u64 	%rd1, [set_branch_param_0];
	ld.param.u64 	%rd2, [set_branch_param_1];
	ld.param.u64 	%rd3, [set_branch_param_2];
	ld.param.u64 	%rd4, [set_branch_param_3];
	ld.global.u32 	%r1, [%rd1];
	cvt.u64.u32 	%rd5, %r1;
	setp.le.u64 	%p1, %rd5, %rd3;
	selp.b64 	%rd6, %rd5, %rd3, %p1;
	setp.eq.s64 	%p2, %rd6, %rd2;
	selp.u32 	%r2, 1, 0, %p2;
	{
	.param .b64 param0;
	st.param.b64 	[param0], %rd4;
	.param .b32 param1;
	st.param.b32 	[param1], %r2;
	call.uni 	cudaGraphSetConditional, (param0, param1);
	}
	ret;
}
)";

std::shared_ptr<const Conditions> Conditions::make(Card &card) {
  if (!card.hasConditionalNodes())
    return nullptr;
  auto kernels = card.compile(conditionKernels);
  if (!kernels)
    return nullptr;
  auto conditions = std::make_shared<Conditions>();
  for (auto [name, function] : {std::pair("set_loop", &conditions->loop),
                                std::pair("set_branch", &conditions->branch)}) {
    Result<FunctionHandle> found = (*kernels)->find(name);
    if (!found)
      return nullptr;
    *function = *found;
  }
  conditions->kernels = std::move(*kernels);
  return conditions;
}

static uint64_t parameterOf(const char *memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

Status Conditions::setLoop(Commands &commands, const char *flags, int64_t bytes,
                           ConditionHandle handle) const {
  std::array parameters{parameterOf(flags), uint64_t(bytes), uint64_t(handle)};
  return commands.launch(loop, 1, 1, parameters);
}

Status Conditions::setBranch(Commands &commands, const char *index,
                             int64_t number, int64_t last,
                             ConditionHandle handle) const {
  std::array parameters{parameterOf(index), uint64_t(number), uint64_t(last),
                        uint64_t(handle)};
  return commands.launch(branch, 1, 1, parameters);
}
