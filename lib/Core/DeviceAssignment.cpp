// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Core/DeviceAssignment.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <numeric>

namespace meshloom {

std::string DeviceAssignment::standardName(std::string_view deviceType,
                                           int64_t number) {
  return fmt::format("/job:localhost/replica:0/task:0/device:{}:{}", deviceType,
                     number);
}

DeviceAssignment DeviceAssignment::standard(int64_t size) {
  DeviceAssignment assignment;
  assignment.ids.resize(size_t(std::max<int64_t>(size, 0)));
  std::iota(assignment.ids.begin(), assignment.ids.end(), 0);
  assignment.localIds = assignment.ids;
  return assignment;
}

DeviceAssignment DeviceAssignment::of(std::string deviceType,
                                      const std::vector<int64_t> &devices) {
  DeviceAssignment assignment = standard(int64_t(devices.size()));
  assignment.deviceType = std::move(deviceType);
  if (devices != assignment.ids)
    for (int64_t number : devices)
      assignment.localDevices.push_back(
          standardName(assignment.deviceType, number));
  return assignment;
}

DeviceAssignment DeviceAssignment::among(std::vector<int64_t> processes,
                                         int64_t self) {
  DeviceAssignment assignment = standard(int64_t(processes.size()));
  std::erase_if(assignment.localIds, [&](int64_t index) {
    return processes[size_t(index)] != self;
  });
  for (size_t number = 0; number < assignment.localIds.size(); ++number)
    assignment.localDevices.push_back(
        standardName(assignment.deviceType, int64_t(number)));
  assignment.processes = std::move(processes);
  return assignment;
}

std::vector<int64_t> DeviceAssignment::localDeviceNumbers() const {
  if (localDevices.empty())
    return localIds;
  std::vector<int64_t> numbers;
  for (const std::string &device : localDevices) {
    int64_t number = 0;
    std::from_chars(device.data() + device.rfind(':') + 1,
                    device.data() + device.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

} // namespace meshloom
