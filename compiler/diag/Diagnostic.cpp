#include "compiler/diag/Diagnostic.h"

#include "compiler/diag/Kinds.h"

#include <array>

namespace planc::diag {

namespace {

constexpr std::string_view trimmed(std::string_view page) {
  while (!page.empty() && page.front() == '\n')
    page.remove_prefix(1);
  while (!page.empty() && page.back() == '\n')
    page.remove_suffix(1);
  return page;
}

constexpr KindInfo kKinds[] = {
#define PLANC_DIAGNOSTIC_KIND(Name, Kebab, SeverityName, Failure, StageName,   \
                              Page)                                            \
  {                                                                            \
      Kind::Name,                                                              \
      Kebab,                                                                   \
      Severity::SeverityName,                                                  \
      FailureKind::Failure,                                                    \
      Stage::StageName,                                                        \
      trimmed(Page)},
#include "compiler/diag/DiagnosticKinds.def"
};

} // namespace

const KindInfo &infoOf(Kind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

std::size_t kindCount() { return std::size(kKinds); }

std::string_view spelling(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  }
  return "error";
}

std::optional<Kind> kindByName(std::string_view name) {
  for (const KindInfo &info : kKinds)
    if (info.name == name)
      return info.kind;
  return std::nullopt;
}

std::optional<std::string> explainKind(std::string_view name) {
  std::optional<Kind> kind = kindByName(name);
  if (!kind)
    return std::nullopt;
  const KindInfo &info = infoOf(*kind);
  std::string out(spelling(info.severity));
  out += "[" + std::string(info.name) + "]\n\n";
  out += info.page;
  out += "\n";
  return out;
}

} // namespace planc::diag
