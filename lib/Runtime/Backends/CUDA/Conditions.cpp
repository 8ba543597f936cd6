// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Conditions.h"

#include <array>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::cuda;

/// The driver's compiler has the function cudaGraphSetConditional.
static constexpr std::string_view conditionModule = R"(
.version 7.8
.target sm_80
.address_size 64

.extern .func cudaGraphSetConditional
(
	.param .b64 cudaGraphSetConditional_param_0,
	.param .b32 cudaGraphSetConditional_param_1
)
;
)";

/// Parameters: flags, how many they are, and the handle.
static constexpr std::string_view loopName = "set_loop", loopBody = R"(
	mov.u32 	%r1, 0;
$next:
	ld.global.u8 	%rs1, [%rd1];
	cvt.u32.u16 	%r2, %rs1;
	or.b32 	%r1, %r1, %r2;
	add.s64 	%rd1, %rd1, 1;
	add.s64 	%rd2, %rd2, -1;
	setp.ne.s64 	%p1, %rd2, 0;
	@%p1 bra 	$next;
	setp.ne.u32 	%p1, %r1, 0;
)";

/// Parameters: the index, the branch, the last branch, and the handle.
static constexpr std::string_view branchName = "set_branch", branchBody = R"(
	ld.global.u32 	%r1, [%rd1];
	cvt.u64.u32 	%rd5, %r1;
	setp.le.u64 	%p1, %rd5, %rd3;
	selp.b64 	%rd6, %rd5, %rd3, %p1;
	setp.eq.s64 	%p1, %rd6, %rd2;
)";

/// Returns a kernel of one thread, which has its parameters in %rd1, %rd2 and
/// so on. The condition, whose handle is the last one, becomes what `body`
/// leaves in %p1.
static std::string conditionKernel(std::string_view name, unsigned parameters,
                                   std::string_view body) {
  std::string declarations, loads;
  for (unsigned p = 0; p < parameters; ++p) {
    declarations += fmt::format("{}\t.param .u64 {}_param_{}",
                                p == 0 ? "" : ",\n", name, p);
    loads +=
        fmt::format("\tld.param.u64 \t%rd{}, [{}_param_{}];\n", p + 1, name, p);
  }
  return fmt::format(R"(
.visible .entry {}(
{}
)
.maxntid 1, 1, 1
{{
	.reg .pred 	%p<2>;
	.reg .b16 	%rs<2>;
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<7>;

{}{}
	selp.u32 	%r3, 1, 0, %p1;
	{{
	.param .b64 param0;
	st.param.b64 	[param0], %rd{};
	.param .b32 param1;
	st.param.b32 	[param1], %r3;
	call.uni 	cudaGraphSetConditional, (param0, param1);
	}}
	ret;
}}
)",
                     name, declarations, loads, body, parameters);
}

std::shared_ptr<const Conditions> Conditions::make(Card &card) {
  if (!card.hasConditionalNodes())
    return nullptr;
  auto kernels =
      card.compile(std::string(conditionModule) +
                   conditionKernel(loopName, /*parameters=*/3, loopBody) +
                   conditionKernel(branchName, /*parameters=*/4, branchBody));
  if (!kernels)
    return nullptr;
  auto conditions = std::make_shared<Conditions>();
  for (auto [name, function] : {std::pair(loopName, &conditions->loop),
                                std::pair(branchName, &conditions->branch)}) {
    Result<FunctionHandle> found = (*kernels)->find(std::string(name));
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
