// Within one pass: what does not wait for tokens on their way to experts or
// back runs meanwhile (`overlap experts`).
#pragma once

#include "compiler/lower/LowerBody.h"

namespace planc::lower {

/// Puts instructions of each pass in another order that can be executed. What
/// leads to an exchange (an instruction on Stream::Experts) goes before what
/// does not; while one is under way, what does not wait for it goes before what
/// does: a shared expert under a dispatch, gradients of experts' weights under
/// the way back. Otherwise the order stays. Who reads and writes slots, and
/// what completes gradients, follows.
void hideExchanges(LoweredBody &body);

} // namespace planc::lower
