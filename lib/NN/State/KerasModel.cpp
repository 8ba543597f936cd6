// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models of Keras's JSON: each of its layers becomes the config of ours, and
// its graph is called again. See KerasModel.h.
#include "meshloom/NN/State/KerasModel.h"
#include "../Layers/LayerState.h"
#include "meshloom/Support/ForeignErrors.h"

#include "meshloom/API/NameScope.h"
#include "meshloom/NN/Layers/Core.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace meshloom {
using namespace detail;

namespace {

using List = nn::Config::List;
using Map = nn::Config::Map;

/// The layer that an error is about.
struct Place {
  std::string className, name;
  [[noreturn]] void refuse(const std::string &message) const {
    Error(
        fmt::format("[model_from_json] {} '{}': {}", className, name, message))
        .raise();
  }
};

Shape shapeOf(const nn::Config &keras) { // null: any size
  Shape shape;
  for (const nn::Config &size : keras.as_list())
    shape.push_back(size.is_null() ? -1 : size.as_int());
  return shape;
}

DType typeOf(const nn::Config &keras) {
  // "float32", or a policy of that name.
  const std::string &name = keras.is_string()
                                ? keras.as_string()
                                : keras.at("config").at("name").as_string();
  static const auto &types = *new std::map<std::string, DType, std::less<>>{
      {"float16", DType::F16}, {"bfloat16", DType::BF16},
      {"float32", DType::F32}, {"float64", DType::F64},
      {"int8", DType::I8},     {"int16", DType::I16},
      {"int32", DType::I32},   {"int64", DType::I64},
      {"uint8", DType::UI8},   {"uint16", DType::UI16},
      {"uint32", DType::UI32}, {"uint64", DType::UI64},
      {"bool", DType::I1}};
  if (auto found = types.find(name); found != types.end())
    return found->second;
  Error("[model_from_json] expected the name of an element type, got '" + name +
        "'")
      .raise();
}

/// An initializer, regularizer, constraint or activation: what Keras left open
/// is left out.
nn::Config partOf(const nn::Config &keras) {
  if (!keras.is_map())
    return keras;
  nn::Config part;
  part["class_name"] = keras.at("class_name");
  nn::Config &options = part["config"];
  options = Map();
  for (auto &[key, value] : keras.at("config").as_map())
    if (!value.is_null())
      options[key] = value;
  return part;
}

/// [[1, 2], [3, 4]] as [1, 2, 3, 4].
nn::Config flattened(const nn::Config &lists) {
  if (!lists.is_list())
    return List{lists, lists};
  List flat;
  for (const nn::Config &entry : lists.as_list())
    if (entry.is_list())
      flat.insert(flat.end(), entry.as_list().begin(), entry.as_list().end());
    else
      flat.push_back(entry);
  return flat;
}
nn::Config listOf(const nn::Config &oneOrMany) {
  return oneOrMany.is_list() ? oneOrMany : nn::Config(List{oneOrMany});
}

/// Returns whether the entry has no meaning here, or is written somewhere else.
bool isLeftOut(std::string_view key) {
  static const auto &keys =
      *new std::set<std::string, std::less<>>{"name",
                                              "trainable",
                                              "dtype",
                                              "module",
                                              "registered_name",
                                              "rank",
                                              "implementation",
                                              "unroll",
                                              "batch_shape",
                                              "head_dim",
                                              "num_query_heads",
                                              "synchronized",
                                              "renorm_momentum",
                                              "flash_attention",
                                              "vocabulary_size",
                                              "batch_input_shape",
                                              "backward_layer"};
  return keys.contains(key);
}

/// Whether an option that ours does not have says what ours does anyway.
bool isUsual(std::string_view key, const nn::Config &value) {
  if (value.is_null() || value == nn::Config(false))
    return true;
  if (key == "data_format")
    return value == nn::Config("channels_last");
  if (key == "interpolation")
    return value == nn::Config("nearest");
  if (key == "fill_mode")
    return value == nn::Config("constant");
  if (key == "encoding")
    return value == nn::Config("utf-8");
  if (key == "oov_method") // of texts, FarmHash comes first
    return value == nn::Config("floormod");
  if (key == "vocabulary_dtype")
    return value == nn::Config("int64");
  if (key == "dilation_rate")
    return std::ranges::all_of(
        listOf(value).as_list(),
        [](const nn::Config &one) { return one == nn::Config(1); });
  return false;
}

Model modelOf(const nn::Config &keras);

bool isModel(const std::string &className) {
  return className == "Functional" || className == "Sequential" ||
         className == "Model";
}

nn::Config translated(const nn::Config &keras, const Place &place);

/// A layer of ours.
Layer layerOf(const nn::Config &keras) {
  const std::string &className = keras.at("class_name").as_string();
  const nn::Config &config = keras.at("config");
  const nn::Config *named = config.find("name");
  const Place place{className, named ? named->as_string() : ""};
  if (isModel(className))
    return modelOf(keras);
  std::optional<mixed_precision::PolicyScope> scope;
  if (const nn::Config *type = config.find("dtype"); type && !type->is_null()) {
    const std::string &policy = type->is_string()
                                    ? type->as_string()
                                    : type->at("config").at("name").as_string();
    // The type of what Hashing gives, and no policy.
    if (policy != "int64")
      scope.emplace(policy);
  }
  Layer layer;
  try {
    layer = Layer::from_config(translated(keras, place));
  } catch (const Error &error) {
    place.refuse(error.message());
  }
  // The saved config has every option of the layer; an option that it lacks is
  // not one of ours.
  const nn::Config saved = layer.implementation().get_config();
  const bool isActivation = layer.class_name() == "Activation";
  for (auto &[key, value] : config.as_map())
    if (!isActivation && !isLeftOut(key) && !saved.find(key) &&
        key != "activity_regularizer" && !isUsual(key, value))
      place.refuse(fmt::format("its option '{}' = {} is not known here", key,
                               value.to_json()));
  return layer;
}

/// The config of a layer in a wrapper.
nn::Config innerOf(const nn::Config &keras) {
  const Layer layer = layerOf(keras);
  nn::Config inner;
  inner["class_name"] = layer.class_name();
  inner["config"] = layer.config().at("config");
  return inner;
}

using Translation = nn::Config (*)(const nn::Config &);

/// Keras: from 1 - l to 1 + u.
nn::Config contrastRange(const nn::Config &range) {
  return range.is_list() && range.as_list().size() == 2
             ? nn::Config(
                   List{-range.as_list()[0].as_double(), range.as_list()[1]})
             : range;
}
/// Keras: the longest n-gram, or all lengths.
nn::Config lengthsOf(const nn::Config &lengths) {
  if (lengths.is_list())
    return lengths;
  List list;
  for (int64_t length = 1; length <= lengths.as_int(); ++length)
    list.emplace_back(length);
  return list;
}
/// Keras: null where the input decides.
nn::Config shapeListOf(const nn::Config &shape) {
  return nn::Config(shapeOf(listOf(shape)));
}
/// Keras: one, or a list of one.
nn::Config onlyOf(const nn::Config &axis) {
  return axis.is_list() ? axis.as_list().at(0) : axis;
}

/// An option that layers of Keras write in a different form.
struct OptionForm {
  std::string_view layers; ///< the start of their names
  const char *option;
  Translation translate;
};
constexpr OptionForm optionForms[] = {
    {"RepeatVector", "n", listOf},
    {"RandomContrast", "factor", contrastRange},
    {"ZeroPadding", "padding", flattened},
    {"Cropping", "cropping", flattened},
    {"UpSampling", "size", listOf},
    {"Concatenate", "axis", listOf},
    {"LayerNormalization", "axis", listOf},
    {"RMSNormalization", "axis", listOf},
    {"UnitNormalization", "axis", listOf},
    {"BatchNormalization", "axis", onlyOf},
    {"TextVectorization", "ngrams", lengthsOf},
    {"EinsumDense", "output_shape", shapeListOf},
    {"MultiHeadAttention", "output_shape", listOf},
    {"MultiHeadAttention", "attention_axes", listOf},
};

/// Keras's layers of one activation, and the option that it has.
struct ActivationLayer {
  std::string_view layers; ///< the start of their names
  const char *activation, *option;
};
constexpr ActivationLayer activationLayers[] = {
    {"LeakyReLU", "leaky_relu", "negative_slope"},
    {"ELU", "elu", "alpha"},
    {"Softmax", "softmax", "axis"},
};

bool isMerge(std::string_view name) {
  return name == "Add" || name == "Subtract" || name == "Multiply" ||
         name == "Average" || name == "Maximum" || name == "Minimum";
}

/// Sets the options whose null means "none" in Keras, and not the default.
void keepNone(const nn::Config &config, nn::Config &ours) {
  for (const char *key : {"window", "scaling", "standardize", "split"})
    if (const nn::Config *value = config.find(key); value && value->is_null())
      ours[key] = "none";
}

/// Sets the options of a Bidirectional, of which Keras names both layers and we
/// the first one without its direction.
void translateBidirectional(const nn::Config &config, nn::Config &ours) {
  nn::Config inner = innerOf(config.at("layer"));
  if (const nn::Config *backward = config.find("backward_layer"))
    ours["backward_layer"] = innerOf(*backward);
  if (const nn::Config *mode = config.find("merge_mode");
      mode && mode->is_null())
    ours["merge_mode"] = "none";
  constexpr std::string_view prefix = "forward_";
  const std::string name = inner.at("config").at("name").as_string();
  if (name.starts_with(prefix))
    inner["config"]["name"] = name.substr(prefix.size());
  ours["layer"] = std::move(inner);
}

/// Makes a GroupedQueryAttention our MultiHeadAttention.
void translateGroupedAttention(const nn::Config &config, const Place &place,
                               nn::Config &ours) {
  ours["key_dim"] = config.at("head_dim");
  ours["num_heads"] = config.at("num_query_heads");
  if (ours.find("activity_regularizer"))
    place.refuse("Keras counts its activity_regularizer twice: add an "
                 "ActivityRegularization after it instead");
}

/// Our config of a layer of Keras's.
nn::Config translated(const nn::Config &keras, const Place &place) {
  const nn::Config &config = keras.at("config");
  std::string name = place.className;
  nn::Config ours;
  for (auto &[key, value] : config.as_map())
    if (!isLeftOut(key) && !(value.is_null() && key != "activation"))
      ours[key] = partOf(value);
  if (config.find("name"))
    ours["name"] = place.name;
  if (const nn::Config *trainable = config.find("trainable"))
    ours["trainable"] = *trainable;

  if (name == "STFTSpectrogram" || name == "MelSpectrogram" ||
      name == "TextVectorization")
    keepNone(config, ours);
  for (const OptionForm &form : optionForms)
    if (name.starts_with(form.layers) && ours.find(form.option))
      ours[form.option] = form.translate(ours.at(form.option));

  if (isMerge(name)) {
    ours["axis"] = List();
  } else if (name == "Bidirectional") {
    translateBidirectional(config, ours);
  } else if (name == "TimeDistributed") {
    ours["layer"] = innerOf(config.at("layer"));
  } else if (name == "RNN") {
    ours["cell"] = innerOf(config.at("cell"));
  } else if (name == "StackedRNNCells") {
    List cells;
    for (const nn::Config &cell : config.at("cells").as_list())
      cells.push_back(innerOf(cell));
    ours["cells"] = std::move(cells);
  } else if (name == "GroupedQueryAttention" || name == "GroupQueryAttention") {
    translateGroupedAttention(config, place, ours);
    name = "MultiHeadAttention";
  } else if (auto layer =
                 std::ranges::find_if(activationLayers,
                                      [&](const ActivationLayer &row) {
                                        return name.starts_with(row.layers);
                                      });
             layer != std::end(activationLayers)) {
    nn::Config activation;
    activation["class_name"] = layer->activation;
    activation["config"][layer->option] = config.at(layer->option);
    ours["activation"] = activation;
    name = "Activation";
  }
  nn::Config layer;
  layer["class_name"] = name;
  layer["config"] = ours.is_null() ? nn::Config(Map()) : ours;
  return layer;
}

//===-- Graphs ------------------------------------------------------------===//

const nn::Config *tensorIn(const nn::Config &argument) {
  if (!argument.is_map() || !argument.find("class_name") ||
      argument.at("class_name") != nn::Config("__keras_tensor__"))
    return nullptr;
  return &argument.at("config").at("keras_history");
}

/// Every tensor in it, in order.
void tensorsIn(const nn::Config &argument,
               std::vector<const nn::Config *> &found) {
  if (const nn::Config *history = tensorIn(argument)) {
    found.push_back(history);
    return;
  }
  if (argument.is_list())
    for (const nn::Config &entry : argument.as_list())
      tensorsIn(entry, found);
}

bool isOperation(const nn::Config &keras) {
  const nn::Config *module = keras.find("module");
  return module && module->is_string() &&
         module->as_string().starts_with("keras.src.ops");
}

Index indexOf(const nn::Config &keras, const Place &place) {
  if (keras.is_integer())
    return keras.as_int();
  if (keras.is_null())
    return newaxis;
  if (keras.is_map() && keras.find("class_name")) {
    const std::string &kind = keras.at("class_name").as_string();
    if (kind == "__ellipsis__")
      return ellipsis;
    if (kind == "__slice__") {
      const nn::Config &slice = keras.at("config");
      auto bound = [&](const char *key) {
        const nn::Config &value = slice.at(key);
        return value.is_null() ? std::nullopt : std::optional(value.as_int());
      };
      return range(bound("start"), bound("stop"), bound("step").value_or(1));
    }
  }
  place.refuse("it is sliced by " + keras.to_json() +
               ", which is neither a number nor a slice");
}

class GraphReader {
public:
  explicit GraphReader(const nn::Config &keras) : config(keras.at("config")) {
    for (const nn::Config &layer : config.at("layers").as_list())
      if (layer.at("class_name") != nn::Config("InputLayer") &&
          !isOperation(layer))
        layers.emplace(
            nameOf(layer),
            layerOf(isCausal(layer) ? withOption(layer, "causal") : layer));
  }

  Model read() {
    // A layer that is called twice may need in its second call what comes
    // later in the list: go through it until all calls are made.
    const List &list = config.at("layers").as_list();
    for (bool isNew = true; isNew;) {
      isNew = false;
      for (const nn::Config &layer : list)
        isNew |= callsOf(layer);
    }
    const std::string name =
        config.find("name") ? config.at("name").as_string() : "";
    return Model(tensors("input_layers"), tensors("output_layers"), name);
  }

private:
  using Key = std::tuple<std::string, int64_t, int64_t>;

  /// Whether attention is called with a causal mask, which is an option here.
  static bool isCausal(const nn::Config &layer) {
    const nn::Config *nodes = layer.find("inbound_nodes");
    size_t count = 0;
    if (nodes)
      for (const nn::Config &node : nodes->as_list()) {
        const nn::Config *flag = node.at("kwargs").find("use_causal_mask");
        count += flag && *flag == nn::Config(true);
      }
    if (count > 0 && count < nodes->as_list().size())
      Place{layer.at("class_name").as_string(), nameOf(layer)}.refuse(
          "it is called with and without use_causal_mask");
    return count > 0;
  }
  static nn::Config withOption(nn::Config layer, const char *option) {
    layer["config"][option] = true;
    return layer;
  }
  static std::string nameOf(const nn::Config &layer) {
    return layer.find("name") ? layer.at("name").as_string()
                              : layer.at("config").at("name").as_string();
  }
  static Key keyOf(const nn::Config &history) {
    const List &parts = history.as_list();
    return {parts.at(0).as_string(), parts.at(1).as_int(),
            parts.at(2).as_int()};
  }

  /// ["x", 0, 0], or a list of such.
  std::vector<SymbolicTensor> tensors(const char *which) const {
    const List &list = config.at(which).as_list();
    if (list.empty())
      return {};
    std::vector<SymbolicTensor> found;
    auto add = [&](const nn::Config &history) {
      auto match = produced.find(keyOf(history));
      if (match == produced.end())
        refuseMissing(history);
      found.push_back(match->second);
    };
    if (list[0].is_string())
      add(config.at(which));
    else
      for (const nn::Config &history : list)
        add(history);
    return found;
  }

  [[noreturn]] void refuseMissing(const nn::Config &history) const {
    std::vector<std::string> operations;
    for (const nn::Config &layer : config.at("layers").as_list())
      if (isOperation(layer) && !done.contains({nameOf(layer), 0}))
        operations.push_back(fmt::format(
            "{} '{}'", layer.at("class_name").as_string(), nameOf(layer)));
    Error(
        fmt::format("[model_from_json] '{}' is needed, but not computed: {}",
                    history.as_list().at(0).as_string(),
                    operations.empty()
                        ? "its inputs are not in the model"
                        : fmt::format("these operations are not known here: {}",
                                      fmt::join(operations, ", "))))
        .raise();
  }

  /// Makes calls whose inputs are there; whether there were any.
  bool callsOf(const nn::Config &layer) {
    const std::string name = nameOf(layer);
    const Place place{layer.at("class_name").as_string(), name};
    if (place.className == "InputLayer") {
      const nn::Config &inputConfig = layer.at("config");
      const nn::Config *batchShape = inputConfig.find("batch_shape");
      Shape shape = shapeOf(batchShape ? *batchShape
                                       : inputConfig.at("batch_input_shape"));
      if (shape.empty())
        Error(fmt::format("[model_from_json] expected the shape of input "
                          "'{}', [batch, ...], got []: the batch is its "
                          "first dim",
                          name))
            .raise();
      return produced
          .try_emplace({name, 0, 0},
                       produced.contains({name, 0, 0})
                           ? produced.at({name, 0, 0})
                           : Input(Shape(shape.begin() + 1, shape.end()),
                                   {.batch_size = shape.at(0),
                                    .dtype = typeOf(inputConfig.at("dtype")),
                                    .name = name}))
          .second;
    }
    bool isNew = false;
    const List &nodes = layer.at("inbound_nodes").as_list();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (done.contains({name, i}))
        continue;
      const std::optional<std::vector<SymbolicTensor>> results =
          isOperation(layer) ? operation(nodes[i], place)
                             : call(layers.at(name), nodes[i], place);
      if (!results)
        continue;
      for (size_t k = 0; k < results->size(); ++k)
        produced.emplace(Key{name, int64_t(i), int64_t(k)}, (*results)[k]);
      done.insert({name, i});
      isNew = true;
    }
    return isNew;
  }

  std::optional<std::vector<SymbolicTensor>>
  tensorsFor(const std::vector<const nn::Config *> &histories) const {
    std::vector<SymbolicTensor> found;
    for (const nn::Config *history : histories) {
      auto tensor = produced.find(keyOf(*history));
      if (tensor == produced.end())
        return std::nullopt;
      found.push_back(tensor->second);
    }
    return found;
  }

  std::optional<std::vector<SymbolicTensor>>
  call(const Layer &layer, const nn::Config &node, const Place &place) const {
    std::vector<const nn::Config *> histories;
    tensorsIn(node.at("args"), histories);
    CallOptions options;
    for (auto &[key, value] : node.at("kwargs").as_map()) {
      if (key == "training" && !value.is_null())
        options.training = value.as_bool();
      else if (key == "initial_state" || key == "inputs" || key == "value" ||
               key == "key" || key == "sequences")
        tensorsIn(value, histories);
      else if (!value.is_null() && value != nn::Config(false) &&
               key != "training" &&
               (!key.ends_with("mask") || key == "attention_mask"))
        place.refuse(fmt::format("it is called with '{}' = {}, which is not "
                                 "known here",
                                 key, value.to_json()));
    }
    const auto inputs = tensorsFor(histories);
    if (!inputs)
      return std::nullopt;
    return layer.call_many(*inputs, options);
  }

  std::optional<std::vector<SymbolicTensor>>
  operation(const nn::Config &node, const Place &place) const {
    const List &args = node.at("args").as_list();
    std::vector<const nn::Config *> histories;
    tensorsIn(node.at("args"), histories);
    const auto inputs = tensorsFor(histories);
    if (!inputs)
      return std::nullopt;
    const std::string &kind = place.className;
    if (kind == "GetItem") {
      const List items = listOf(args.at(1)).as_list();
      if (items.size() > 8)
        place.refuse("it has more than 8 indices");
      Index indices[8];
      for (size_t i = 0; i < items.size(); ++i)
        indices[i] = indexOf(items[i], place);
      return std::vector{(*inputs)[0](indices[0], indices[1], indices[2],
                                      indices[3], indices[4], indices[5],
                                      indices[6], indices[7])};
    }
    if (kind == "Negative")
      return std::vector{-(*inputs)[0]};
    static const auto &arithmetic =
        *new std::map<std::string, const char *>{{"Add", "add"},
                                                 {"Subtract", "subtract"},
                                                 {"Multiply", "multiply"},
                                                 {"Divide", "divide"},
                                                 {"TrueDivide", "divide"}};
    auto found = arithmetic.find(kind);
    // A value that only masks are computed from is not computed here.
    if (found == arithmetic.end() || args.size() != 2)
      return std::nullopt;
    size_t next = 0;
    auto operand = [&](const nn::Config &argument) {
      return tensorIn(argument) ? SymbolicOperand((*inputs)[next++])
                                : SymbolicOperand(argument.as_double());
    };
    const SymbolicOperand first = operand(args[0]), second = operand(args[1]);
    return std::vector{applyOperator(found->second, first, second)};
  }

  const nn::Config &config;
  std::map<std::string, Layer> layers;
  std::map<Key, SymbolicTensor> produced;
  std::set<std::pair<std::string, size_t>> done;
};

Model modelOf(const nn::Config &keras) {
  const std::string &className = keras.at("class_name").as_string();
  const nn::Config &config = keras.at("config");
  const std::string name =
      config.find("name") ? config.at("name").as_string() : "";
  if (className != "Sequential") {
    if (!isModel(className) || !config.find("output_layers"))
      Error(
          fmt::format(
              "[model_from_json] expected a Sequential or functional model, "
              "got {} '{}': the code of a subclassed model is not in its JSON",
              className, name))
          .raise();
    return GraphReader(keras).read();
  }
  Sequential model(std::vector<SequentialPart>{}, name);
  bool hasInput = false;
  auto input = [&](const Shape &shape, DType type, const std::string &called) {
    if (shape.empty())
      Error(fmt::format("[model_from_json] expected the shape of the "
                        "input of '{}', [batch, ...], got []: the batch "
                        "is its first dim",
                        name))
          .raise();
    model.add(
        Input(Shape(shape.begin() + 1, shape.end()),
              {.batch_size = shape.at(0), .dtype = type, .name = called}));
    hasInput = true;
  };
  for (const nn::Config &layer : config.at("layers").as_list()) {
    const nn::Config &inputConfig = layer.at("config");
    if (layer.at("class_name") == nn::Config("InputLayer")) {
      const nn::Config *batchShape = inputConfig.find("batch_shape");
      input(shapeOf(batchShape ? *batchShape
                               : inputConfig.at("batch_input_shape")),
            typeOf(inputConfig.at("dtype")),
            inputConfig.at("name").as_string());
      continue;
    }
    if (const nn::Config *shape = config.find("build_input_shape");
        !hasInput && shape && shape->is_list())
      input(shapeOf(*shape),
            layer.at("class_name") == nn::Config("Embedding") ? DType::I32
                                                              : DType::F32,
            "");
    model.add(layerOf(layer));
  }
  return model;
}

} // namespace

Layer layer_from_json(std::string_view json, std::source_location where) {
  return atLine(where, [&] { return layerOf(nn::Config::parse(json)); });
}

Model model_from_json(std::string_view json, std::source_location where) {
  return detail::atLine(where, [&]() -> Model {
    return detail::withDTensorErrors(
        "[model_from_json] the model is not valid: an entry is missing, or a "
        "number is out of range",
        [&]() -> Model { return modelOf(nn::Config::parse(json)); });
  });
}

} // namespace meshloom
