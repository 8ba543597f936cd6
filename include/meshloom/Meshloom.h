// All of Meshloom's user API: global tensors with layouts over a mesh of
// devices, ops, functions, gradients, layers and optimizers. Needs C++20 and
// the standard library only.
//
// It may be included beside `using namespace std`. Names that are types there
// and functions here (function, complex, less, greater, slice, logical_and,
// ...) are then ambiguous by C++'s rules: say which with `using
// meshloom::function;` in your namespace or function, or write it out.
#pragma once

#if __cplusplus < 202002L
#error "Meshloom needs C++20: compile with -std=c++20"
#else

#include "meshloom/API/Cache.h"
#include "meshloom/API/CheckNumerics.h"
#include "meshloom/API/ControlOps.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/CustomOps.h"
#include "meshloom/API/DebugPrint.h"
#include "meshloom/API/Devices.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Einsum.h"
#include "meshloom/API/EvalShape.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/GradientTape.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/Linalg.h"
#include "meshloom/API/LinalgOps.h"
#include "meshloom/API/Logging.h"
#include "meshloom/API/Mask.h"
#include "meshloom/API/Mesh.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/PatternOps.h"
#include "meshloom/API/Processes.h"
#include "meshloom/API/Profile.h"
#include "meshloom/API/Random.h"
#include "meshloom/API/SavedFunction.h"
#include "meshloom/API/ShardMap.h"
#include "meshloom/API/SliceOps.h"
#include "meshloom/API/StatisticsOps.h"
#include "meshloom/API/Tensor.h"
#include "meshloom/API/Variable.h"
#include "meshloom/API/VariableCreation.h"
#include "meshloom/API/WindowOps.h"
#include "meshloom/Core/CustomCall.h"
#include "meshloom/Distribute/ReplicaContext.h"
#include "meshloom/Distribute/Strategies.h"
#include "meshloom/NN/Activations.h"
#include "meshloom/NN/Constraints.h"
#include "meshloom/NN/Functions.h"
#include "meshloom/NN/Initializers.h"
#include "meshloom/NN/Layers.h"
#include "meshloom/NN/Layers/Attention.h"
#include "meshloom/NN/Layers/Convolutional.h"
#include "meshloom/NN/Layers/Core.h"
#include "meshloom/NN/Layers/Normalization.h"
#include "meshloom/NN/Layers/Recurrent.h"
#include "meshloom/NN/Layers/Shapes.h"
#include "meshloom/NN/Losses.h"
#include "meshloom/NN/Metrics.h"
#include "meshloom/NN/MixedPrecision.h"
#include "meshloom/NN/Models/Inspect.h"
#include "meshloom/NN/Models/Model.h"
#include "meshloom/NN/Module.h"
#include "meshloom/NN/Optimizers.h"
#include "meshloom/NN/Regularizers.h"
#include "meshloom/NN/Schedules.h"
#include "meshloom/NN/State/CheckpointManager.h"
#include "meshloom/NN/State/ExportedFunctions.h"
#include "meshloom/NN/State/KerasModel.h"
#include "meshloom/NN/State/SavedModel.h"
#include "meshloom/NN/Training/Checkpoints.h"
#include "meshloom/NN/Training/Estimator.h"
#include "meshloom/NN/Training/Preemption.h"
#include "meshloom/NN/Training/TensorBoard.h"

#endif
