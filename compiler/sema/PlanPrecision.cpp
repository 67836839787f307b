// Number formats by role: which role may take which, and whether the
// accelerator computes in it.
#include "compiler/sema/PlanBuilder.h"

#include "compiler/diag/Kinds.h"

#include <fmt/core.h>

#include <algorithm>

namespace planc::sema {

using diag::Kind;
using source::SourceSpan;

namespace {

/// Matrix products take every format, since their operands are copied into it;
/// what is held, added up or exponentiated takes what holds, adds up or
/// exponentiates without such copies.
struct Role {
  std::string_view name;
  std::vector<std::string_view> formats;
  std::string_view why;
};

const std::vector<Role> &roles() {
  static const std::vector<Role> kRoles = {
      {"compute", {"fp32", "bf16", "fp16", "fp8", "mxfp8", "fp4"}, ""},
      {"attention",
       {"fp32", "bf16", "fp16", "fp8"},
       "no fused attention runs in formats with block scales"},
      {"router",
       {"fp32", "bf16", "fp16"},
       "its scores are compared with each other"},
      {"logits",
       {"fp32", "bf16", "fp16"},
       "they are exponentiated and added up"},
      {"parameters",
       {"fp32", "bf16", "fp16", "fp8"},
       "they are updated element by element"},
      {"gradients",
       {"fp32", "bf16", "fp16"},
       "they are added up over micro-batches and ranks"},
      {"dispatch",
       {"bf16", "fp16", "fp8"},
       "no library sends tokens to experts so"},
      {"saved",
       {"bf16", "fp16", "fp8", "mxfp8"},
       "no library keeps activations so"}};
  return kRoles;
}

const std::vector<std::string_view> kFormats = {"fp32", "bf16",  "fp16",
                                                "fp8",  "mxfp8", "fp4"};

std::string joined(const std::vector<std::string_view> &words) {
  std::string out;
  for (std::string_view word : words)
    out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

} // namespace

bool PlanBuilder::checkPeak(Precision precision, SourceSpan span) {
  const hardware::Accelerator &accelerator = request_.cluster->accelerator;
  if (accelerator.peak(precision))
    return true;
  std::string formats;
  for (const hardware::Peak &peak : accelerator.peaks)
    formats +=
        (formats.empty() ? "" : ", ") + std::string(toString(peak.precision));
  elaboration_.emitter()
      .report(span, Kind::NotOnAccelerator, "`{}` has no peak for {}",
              accelerator.name, toString(precision))
      .help("it has {}", formats);
  return false;
}

std::optional<Precision> PlanBuilder::formatOfRole(const KeyedEntry &entry) {
  std::vector<std::string_view> names;
  for (const Role &role : roles())
    names.push_back(role.name);
  auto key = oneOf(entry.span, "part with a precision", entry.key, names);
  auto word = in(entry.scope).word(*entry.value, "a precision");
  auto known = word ? oneOf(entry.value->span, "number format", *word, kFormats)
                    : std::nullopt;
  if (!key || !known)
    return std::nullopt;
  const Role &role =
      *std::find_if(roles().begin(), roles().end(),
                    [&](const Role &each) { return each.name == *key; });
  if (std::find(role.formats.begin(), role.formats.end(), *known) !=
      role.formats.end())
    return precisionFromName(*known);
  elaboration_.emitter()
      .report(entry.value->span, Kind::FormatNotForRole,
              "`{}` cannot be {}: {}", role.name, *known, role.why)
      .help("it may be {}", joined(role.formats));
  return std::nullopt;
}

bool PlanBuilder::buildPrecision() {
  bool isSound = true;
  PrecisionPlan &out = plan_.precision;
  if (!text_.precision.empty())
    out.clause = originOf(text_.precisionClause);
  SourceSpan computeSpan = text_.clusterSpan;
  for (const KeyedEntry &entry : text_.precision) {
    auto precision = formatOfRole(entry);
    isSound = isSound && precision;
    if (!precision)
      continue;
    if (entry.key == "compute") {
      out.compute = *precision;
      computeSpan = entry.span;
    } else if (entry.key == "attention") {
      out.attention = *precision;
      isSound = checkPeak(*precision, entry.span) && isSound;
    } else if (entry.key == "router") {
      out.router = *precision;
    } else if (entry.key == "dispatch") {
      out.dispatch = *precision;
    } else if (entry.key == "saved") {
      out.saved = *precision;
    } else {
      Precision &held = entry.key == "logits"       ? out.logits
                        : entry.key == "parameters" ? out.parameters
                                                    : out.gradients;
      held = *precision;
    }
  }
  return checkPeak(out.compute, computeSpan) && isSound;
}

} // namespace planc::sema
