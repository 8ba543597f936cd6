// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layers: what is done to data before a model sees them.
#pragma once

#include "meshloom/Data/Dataset.h"

#include "meshloom/NN/Layers/Shapes.h"

namespace meshloom::layers {

/// The options of Normalization.
struct NormalizationOptions {
  Shape axis = {-1};                 ///< the dims with moments of their own
  std::vector<double> mean = {};     ///< given: not adapted; one, or for each
  std::vector<double> variance = {}; ///< beside the mean
  bool invert = false;      ///< the other way round: x sqrt(variance) + mean
  std::string name = "";    ///< default: "normalization"
  LayerOptions common = {}; ///< of all layers
};
/// (x - mean) / sqrt(variance), by moments that are given, or those of data:
///
///   layers::Normalization norm;
///   norm.adapt(features);          // [examples, 9]
///   Sequential model({norm, layers::Dense(1)});
class Normalization : public Layer {
public:
  /// Weights are "mean", "variance" and "count", not trainable, where moments
  /// are not given. Throws meshloom::Error if only one of both is, or their
  /// numbers differ.
  explicit Normalization(NormalizationOptions options = {});
  /// Normalization(-1).
  template <std::integral I>
  explicit Normalization(I axis, Where where = Where::current())
      : Normalization(
            NormalizationOptions{.axis = {axis}, .common = {.where = where}}) {}
  /// Moments become those of `data`, of the rank of inputs. Throws
  /// meshloom::Error if moments were given, or the layer is built for other
  /// sizes.
  void adapt(const Tensor &data) const;
};

/// The options of Resizing beside the size.
struct ResizingOptions {
  /// How values between elements are computed: "bilinear", "nearest",
  /// "bicubic", "lanczos3" or "lanczos5".
  std::string interpolation = "bilinear";
  /// Edges are cut off first, so that nothing is stretched.
  bool crop_to_aspect_ratio = false;
  /// fill_value comes around first, so that nothing is stretched.
  bool pad_to_aspect_ratio = false;
  double fill_value = 0;                     ///< see pad_to_aspect_ratio
  bool antialias = false;                    ///< where images become smaller
  std::string data_format = "channels_last"; ///< or "channels_first"
  std::string name = "";                     ///< default: "resizing"
  LayerOptions common = {};                  ///< of all layers
};
/// Images [batch, rows, columns, features] of another size. Integers stay
/// such, rounded.
class Resizing : public Layer {
public:
  /// Throws meshloom::Error if a size is not positive, the interpolation is not
  /// known, or edges are to be cut off and to be filled.
  Resizing(int64_t height, int64_t width, ResizingOptions options = {});
  /// Resizing(224, 224, "nearest").
  template <std::convertible_to<std::string> S>
  Resizing(int64_t height, int64_t width, S &&interpolation,
           Where where = Where::current())
      : Resizing(
            height, width,
            ResizingOptions{.interpolation = std::forward<S>(interpolation),
                            .common = {.where = where}}) {}
};
/// The middle of images [batch, rows, columns, features]; of smaller ones the
/// largest part of this aspect ratio, resized by "bilinear". Gives floats.
class CenterCrop : public Layer {
public:
  /// Throws meshloom::Error if a size is not positive.
  CenterCrop(int64_t height, int64_t width, DataFormatOptions options = {});
};

/// The options of CategoryEncoding beside the number of categories.
struct CategoryEncodingOptions {
  /// The result for [batch, n] categories: "multi_hot" gives 1 for each that is
  /// there, [batch, categories]; "count" how often it is; "one_hot" [batch, n,
  /// categories], without the n where that is 1.
  std::string output_mode = "multi_hot";
  std::string name = "";    ///< default: "category_encoding"
  LayerOptions common = {}; ///< of all layers
};
/// Integers from 0 on as vectors of floats. Called on {x, weights}, "count"
/// counts each as its weight. Categories that are too large, or negative, do
/// not count.
class CategoryEncoding : public Layer {
public:
  /// Throws meshloom::Error if there is no category, or the mode is not known.
  explicit CategoryEncoding(int64_t num_tokens,
                            CategoryEncodingOptions options = {});
  /// CategoryEncoding(10, "one_hot").
  template <std::convertible_to<std::string> S>
  CategoryEncoding(int64_t num_tokens, S &&output_mode,
                   Where where = Where::current())
      : CategoryEncoding(
            num_tokens,
            CategoryEncodingOptions{.output_mode = std::forward<S>(output_mode),
                                    .common = {.where = where}}) {}
};

/// The options of Discretization: boundaries, or for how many bins to find
/// some.
struct DiscretizationOptions {
  std::vector<double> bin_boundaries = {}; ///< from the lowest to the highest
  int64_t num_bins = 0;                    ///< see adapt
  double epsilon = 0.01;                   ///< how exact those of adapt are
  /// "int" gives the number of the bin; see CategoryEncodingOptions for others.
  std::string output_mode = "int";
  std::string name = "";    ///< default: "discretization"
  LayerOptions common = {}; ///< of all layers
};
/// In which bin each number is: 0 below the first boundary, 1 from there to the
/// next one, and so on.
class Discretization : public Layer {
public:
  /// Throws meshloom::Error if neither boundaries nor a number of bins are
  /// given, or both, or boundaries do not rise.
  explicit Discretization(DiscretizationOptions options);
  /// Discretization(boundaries).
  template <std::same_as<std::vector<double>> B>
  explicit Discretization(const B &bin_boundaries,
                          Where where = Where::current())
      : Discretization(DiscretizationOptions{.bin_boundaries = bin_boundaries,
                                             .common = {.where = where}}) {}
  /// Boundaries become quantiles of `data`, so that num_bins bins get about as
  /// many each. Throws meshloom::Error if boundaries were given.
  void adapt(const Tensor &data) const;
};

/// The options of IntegerLookup.
struct IntegerLookupOptions {
  /// The most integers that the vocabulary has, special ones included. None: no
  /// limit.
  std::optional<int64_t> max_tokens = std::nullopt;
  /// How many indices unknown integers share: which one an integer has is its
  /// remainder, as in Keras. 0: an unknown integer is an error.
  int64_t num_oov_indices = 1;
  /// The integer that has index 0 in mode "int"; other modes leave it out.
  std::optional<int64_t> mask_token = std::nullopt;
  int64_t oov_token = -1; ///< the integer that stands for unknown ones
  /// The integers in order of their indices, instead of `adapt`. The special
  /// ones may come first.
  std::vector<int64_t> vocabulary = {};
  /// The weight of each integer of `vocabulary`, for "tf_idf".
  std::vector<double> idf_weights = {};
  /// "int" gives the index of each integer. Other modes give one vector for
  /// each row: "multi_hot" says which integers it has, "count" how often,
  /// "tf_idf" how often, times their idf weights. "one_hot" gives a vector for
  /// each integer.
  std::string output_mode = "int";
  /// Says whether these vectors have max_tokens elements, however few integers
  /// there are.
  bool pad_to_max_tokens = false;
  std::string name = "";    ///< default: "integer_lookup"
  LayerOptions common = {}; ///< of all layers
};
/// Integers as indices in a vocabulary, with the numbers of Keras:
///
///   layers::IntegerLookup lookup({.vocabulary = {12, 36, 1138}});
///   lookup(tensor({36, 7, 12}));                  // i64 {2, 0, 1}
///
/// The vocabulary is a part of the layer's config. In a `function` it is a
/// constant: call adapt first.
class IntegerLookup : public Layer {
public:
  /// Throws meshloom::Error if an option is not one of the values above, or if
  /// the vocabulary has an integer twice.
  explicit IntegerLookup(IntegerLookupOptions options = {});
  /// The same layer, which was read from a config. Throws meshloom::Error if it
  /// is one of another class.
  explicit IntegerLookup(const Layer &layer);
  /// The integers of indices: Keras's `invert`. Indices that are not in the
  /// vocabulary give oov_token. i64, of the shape of `indices`.
  Tensor to_tokens(const Tensor &indices) const;
  /// Makes the vocabulary from integers: the most frequent one comes first. The
  /// elements along the first dim are documents for idf weights.
  void adapt(const Tensor &integers) const;
  /// Makes the vocabulary from a dataset: an element is a document.
  void adapt(const data::Dataset<Tensor> &integers) const;
  /// Sets the vocabulary; see IntegerLookupOptions::vocabulary.
  void set_vocabulary(const std::vector<int64_t> &vocabulary,
                      const std::vector<double> &idf_weights = {}) const;
  /// The integers by index.
  std::vector<int64_t> get_vocabulary(bool include_special_tokens = true) const;
  /// The number of integers, special ones included.
  int64_t vocabulary_size() const;
};

} // namespace meshloom::layers
