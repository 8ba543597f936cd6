// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Event files, which TensorBoard shows: numbers, histograms, the graph of a
// model's layers, and what a profile recorded.
#pragma once

#include "meshloom/API/Profile.h"
#include "meshloom/NN/Training/Callbacks.h"

namespace meshloom {

/// Writes an event file. May be used from one thread at a time.
///
///   SummaryWriter writer("logs/train");
///   writer.scalar("loss", 0.25, step);
class SummaryWriter {
public:
  /// A new file in `folder`, which is made where it is not there. Throws
  /// meshloom::Error if it cannot be written.
  explicit SummaryWriter(const std::filesystem::path &folder);
  /// Goes on with the other's file.
  SummaryWriter(SummaryWriter &&) noexcept;
  /// Closes its file, and goes on with the other's.
  SummaryWriter &operator=(SummaryWriter &&) noexcept;
  ~SummaryWriter();

  /// A number at a step.
  void scalar(std::string_view tag, double value, int64_t step);
  /// How the elements of a tensor are distributed at a step.
  void histogram(std::string_view tag, const Tensor &values, int64_t step);
  /// The layers of a model, and what they are given.
  void graph(const Model &model);
  /// Writes out what is buffered. Throws meshloom::Error if that fails; what
  /// the destructor writes out is not checked.
  void flush();
  /// The file.
  const std::filesystem::path &path() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

namespace callbacks {

/// The options of TensorBoard.
struct TensorBoardOptions {
  std::filesystem::path log_dir = "logs"; ///< has the folders train, validation
  /// Every so many epochs, histograms of all weights; 0: never.
  int64_t histogram_freq = 0;
  bool write_graph = true; ///< the layers of the model
  /// Every so many batches, the numbers so far; 0: at the end of epochs alone.
  int64_t update_freq = 0;
  bool write_steps_per_second = false; ///< how fast training is
  /// The first and the last batch of training to profile, from 1; 0: none.
  std::pair<int64_t, int64_t> profile_batch = {0, 0};
};

/// Writes event files: "epoch_loss" and the other numbers of epochs, with
/// validation apart; "batch_loss" and the other numbers of batches;
/// "epoch_learning_rate" where another callback sets one; weights by their
/// paths; the layers; and what was profiled, for the profile plugin.
class TensorBoard : public Callback {
public:
  /// TensorBoard({.log_dir = "logs"}).
  explicit TensorBoard(TensorBoardOptions options = {});
  /// TensorBoard("logs").
  template <std::convertible_to<std::filesystem::path> P>
  explicit TensorBoard(P &&log_dir)
      : TensorBoard(TensorBoardOptions{.log_dir = std::forward<P>(log_dir)}) {}
  ~TensorBoard() override;
  void on_train_begin(Logs &logs) override;
  void on_train_end(Logs &logs) override;
  void on_epoch_begin(int64_t epoch, Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  void on_train_batch_begin(int64_t batch, Logs &logs) override;
  void on_train_batch_end(int64_t batch, Logs &logs) override;
  void on_test_end(Logs &logs) override;
  CallbackState get_state() const override;
  void set_state(const CallbackState &state) override;

private:
  void endProfile();
  SummaryWriter &validation();

  TensorBoardOptions options;
  // Shared by the copy that a list takes over.
  std::shared_ptr<SummaryWriter> train, evaluated;
  std::shared_ptr<ProfileScope> profile;
  int64_t batches = 0; ///< of training so far
  int64_t shown = 0;   ///< batches when numbers were last written
  double epochBegan = 0;
  int64_t epochBatches = 0;
  bool hasGraph = false;
};

} // namespace callbacks
} // namespace meshloom
