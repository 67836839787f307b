// Words that a plan could say besides its own, tried to explain its step.
#pragma once

#include "compiler/driver/Remedies.h"

namespace planc::driver {

/// Each as a clause of a variant: `overlap` with one word more, `bucket auto`,
/// twice the chunks of an interleaved schedule. What a plan says already is
/// left out.
std::vector<std::string> wordsToTry(const sema::Plan &plan);

/// Those that shorten the step by a thousandth or more, the most first.
std::vector<report::PlanChange> changesThatHelp(const Compilation &compilation,
                                                const TryClauses &tryClauses);

} // namespace planc::driver
