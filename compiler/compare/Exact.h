// Values as people write them, without loss: a text that would be read as
// another number gives way to all digits in the smallest unit.
#pragma once

#include "runtime/base/Quantity.h"

#include <string>
#include <string_view>

namespace planc::compare {

std::string exact(double number); ///< `0.7`
std::string exact(Bytes bytes);   ///< `25MiB`, `26214401B`
std::string exact(ByteRate rate); ///< `450GB/s`
std::string exact(FlopRate rate); ///< `989.4TFLOP/s`
std::string exact(Duration time); ///< `1.5us`
/// What an `expect` of this metric compares with.
std::string expected(std::string_view metric, double value);

} // namespace planc::compare
