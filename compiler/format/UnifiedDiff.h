// Two texts line by line, as `diff -u` has it.
#pragma once

#include <string>
#include <string_view>

namespace planc::format {

/// Headed `--- NAME` and `+++ NAME`, with three lines around each change; empty
/// where the texts are equal. A name with a space ends with a tab, without
/// which `patch` takes the name to end at the space. Lines end with LF. The
/// shortest of all changes, but for texts that hardly have a line in common.
std::string unifiedDiff(std::string_view name, std::string_view before,
                        std::string_view after);

} // namespace planc::format
