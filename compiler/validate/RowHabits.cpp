#include "compiler/validate/RowPlan.h"

namespace planc::validate {

namespace {

struct Framework {
  std::string_view name;
  std::int64_t since;
  FrameworkHabits habits;
};
constexpr Framework kFrameworks[] = {
#define PLANC_FRAMEWORK(NAME, SINCE, OVERLAP, DROP, KERNELS, SEQUENCE, EVEN,   \
                        BUCKET, PADS, SOURCE)                                  \
  {NAME, SINCE, {OVERLAP, DROP, KERNELS, SEQUENCE, BUCKET, EVEN, PADS}},
#include "compiler/validate/Frameworks.def"
};

} // namespace

FrameworkHabits habitsOf(const MeasuredRow &row) {
  FrameworkHabits found;
  const std::string name = wordOf(row.text(Column::Framework));
  const std::int64_t year = row.count(Column::Year).value_or(9999);
  for (const Framework &framework : kFrameworks)
    if (wordOf(framework.name) == name && framework.since <= year)
      found = framework.habits;
  return found;
}

} // namespace planc::validate
