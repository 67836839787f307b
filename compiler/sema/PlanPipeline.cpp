// The clause `pipeline`: a schedule with its options, or an order of one's own.
#include "compiler/sema/PlanBuilder.h"

#include "compiler/diag/Kinds.h"
#include "llvm/Support/Casting.h"

#include <fmt/core.h>

#include <charconv>

namespace planc::sema {

using diag::Kind;
using schedules::ChunksPerRank;
using schedules::Pass;
using schedules::PassKind;
using schedules::ScheduleInfo;
using source::SourceSpan;

namespace {

std::string_view chunksOf(const ScheduleInfo &info) {
  switch (info.chunks) {
  case ChunksPerRank::One:
    return schedules::copiesOf(info.placement) == 2
               ? "one chunk of each of its two copies of the model a rank"
               : "one chunk of the model a rank";
  case ChunksPerRank::Two:
    return "two chunks of the model a rank";
  case ChunksPerRank::Waves:
    return "two chunks of the model a rank for each wave";
  case ChunksPerRank::AsAsked:
    break;
  }
  return "as many chunks as `virtual` says";
}

/// Schedules that take something, as `schedule A` has.
std::string schedulesThat(bool (*take)(const ScheduleInfo &)) {
  std::string out;
  for (const ScheduleInfo &info : schedules::allSchedules())
    if (take(info))
      out += fmt::format("{}{}", out.empty() ? "" : ", ", info.name);
  return out;
}

/// One pass of an order: `F3`, `B3.1`, `D3`, `W3`.
std::optional<Pass> readPass(std::string_view text, std::int32_t ownChunk) {
  Pass pass;
  switch (text.empty() ? '\0' : text.front()) {
  case 'F':
    break;
  case 'B':
  case 'D':
    pass.kind = PassKind::Backward;
    break;
  case 'W':
    pass.kind = PassKind::WeightGradient;
    break;
  default:
    return std::nullopt;
  }
  const char *at = text.data() + 1, *end = text.data() + text.size();
  auto number = [&](std::int32_t &out) {
    auto [stop, error] = std::from_chars(at, end, out);
    bool isRead = error == std::errc() && stop != at && *at != '-';
    at = stop;
    return isRead;
  };
  pass.chunk = ownChunk;
  if (!number(pass.microBatch))
    return std::nullopt;
  if (at != end && (*at++ != '.' || !number(pass.chunk)))
    return std::nullopt;
  return at == end ? std::optional(pass) : std::nullopt;
}

} // namespace

bool PlanBuilder::readSchedule(const ast::Field &field, Evaluator &evaluator,
                               Pipeline &out) {
  const ast::Expr *value = singleValue(elaboration_, field);
  auto word = value ? evaluator.word(*value, "`schedule`") : std::nullopt;
  if (!word)
    return false;
  std::vector<std::string_view> names;
  for (const ScheduleInfo &info : schedules::allSchedules())
    names.push_back(info.name);
  auto known = oneOf(value->span, "schedule", *word, names);
  if (!known)
    return false;
  out.scheduleOrigin = originOf(field.span);
  out.schedule = schedules::findSchedule(*known)->schedule;
  return true;
}

bool PlanBuilder::readLayers(const ast::Field &field, Evaluator &evaluator,
                             Pipeline &out) {
  const ast::Expr *value = singleValue(elaboration_, field);
  if (!value)
    return false;
  out.layersOrigin = originOf(field.span);
  Value found = evaluator.evaluate(*value);
  if (auto *word = found.as<Word>(); word && word->text == "balanced")
    return true;
  auto *list = found.as<List>();
  bool isSound = list && !list->items->empty();
  for (std::size_t i = 0; isSound && i < list->items->size(); ++i) {
    auto *count = (*list->items)[i].as<std::int64_t>();
    isSound = count && *count >= 0;
    out.layers.push_back(isSound ? *count : 0);
  }
  if (!isSound && !found.isPoison())
    elaboration_.emitter()
        .report(value->span, Kind::TypeMismatch,
                "`layers` takes `balanced` or a count of layers a chunk")
        .help("as in `layers [5] + 10 * [6] + [5]`");
  return isSound;
}

bool PlanBuilder::readOrder(const ast::Field &field, Evaluator &evaluator,
                            Pipeline &out) {
  const ast::Expr *value = singleValue(elaboration_, field);
  if (!value)
    return false;
  out.orderOrigin = originOf(field.span);
  out.schedule = Schedule::Own;
  auto *list = llvm::dyn_cast<ast::ListExpr>(value);
  bool isSound = list && !list->items.empty();
  for (std::size_t i = 0; isSound && i < list->items.size(); ++i) {
    const ast::Expr *item = list->items[i];
    Value text = evaluator.evaluate(*item);
    if (text.isPoison())
      return false;
    auto *passes = text.as<std::string>();
    isSound = passes != nullptr;
    if (isSound && !readPasses(*passes, item->span, out))
      return false;
  }
  if (!isSound)
    elaboration_.emitter()
        .report(value->span, Kind::TypeMismatch,
                "`order` takes a list of texts, the passes of a stage each")
        .help("as in `order [\"F0 F1 B0 B1\", \"F0 B0 F1 B1\"]`");
  return isSound;
}

/// Adds the passes of one stage.
bool PlanBuilder::readPasses(std::string_view text, SourceSpan span,
                             Pipeline &out) {
  const auto stage = static_cast<std::int32_t>(out.order.size());
  schedules::Order &order = out.order.emplace_back();
  std::vector<OriginId> &origins = out.orderOrigins.emplace_back();
  // Places inside a text that has no escapes.
  bool isLiteral = span.end - span.begin == text.size() + 2;
  auto placeOf = [&](std::size_t begin, std::size_t end) {
    SourceSpan at = span;
    if (isLiteral) {
      at.begin = span.begin + 1 + static_cast<std::uint32_t>(begin);
      at.end = span.begin + 1 + static_cast<std::uint32_t>(end);
    }
    return at;
  };
  std::vector<bool> isWhole; // written `D`
  bool isTogether = false;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ' || text[at] == '&') {
      isTogether = isTogether || text[at] == '&';
      ++at;
      continue;
    }
    std::size_t end = std::min(text.find_first_of(" &", at), text.size());
    std::optional<Pass> pass = readPass(text.substr(at, end - at), stage);
    SourceSpan where = placeOf(at, end);
    if (!pass) {
      elaboration_.emitter()
          .report(where, Kind::PassNotRead, "`{}` is no pass",
                  text.substr(at, end - at))
          .help("`F3` is the forward of micro-batch 3, `B3` its backward, "
                "`W3` its weight gradients; `F3.1` that through chunk 1; "
                "`F3&B1` the two together");
      return false;
    }
    pass->withPrevious = isTogether;
    isTogether = false;
    order.push_back(*pass);
    isWhole.push_back(text[at] == 'D');
    origins.push_back(originOf(where));
    at = end;
  }
  // A backward whose weight gradients come later is that of inputs alone.
  std::set<std::pair<std::int32_t, std::int32_t>> apart;
  for (std::size_t i = order.size(); i-- > 0;) {
    std::pair key(order[i].microBatch, order[i].chunk);
    if (order[i].kind == PassKind::WeightGradient)
      apart.insert(key);
    else if (order[i].kind == PassKind::Backward && !isWhole[i] &&
             apart.count(key))
      order[i].kind = PassKind::InputGradient;
  }
  return true;
}

/// `given` is the field `virtual`, null without.
bool PlanBuilder::checkOptions(Pipeline &out, const ast::Field *given) {
  if (out.schedule == Schedule::Own) {
    if (!out.group && !out.hasPairs)
      return true;
    elaboration_.emitter()
        .report(elaboration_.spanOf(out.clause),
                Kind::VirtualWithoutInterleaving, "an `order` has no `{}`",
                out.group ? "group" : "pairs")
        .help("it says itself what runs when, and `F1&B0` what runs together");
    return false;
  }
  if (schedules::infoOf(out.schedule).takes & schedules::kSlices) {
    elaboration_.emitter()
        .report(elaboration_.spanOf(out.scheduleOrigin), Kind::Unsupported,
                "planc does not cut the sequences of a micro-batch into slices "
                "of {} yet",
                schedules::toString(out.schedule))
        .help("smaller micro-batches (`batch … micro`) shorten the bubble the "
              "same way");
    return false;
  }
  const ScheduleInfo &info = schedules::infoOf(out.schedule);
  const std::int64_t fixed = info.chunks == ChunksPerRank::One ? 1 : 2;
  auto refuse = [&](OriginId origin, std::string_view option,
                    std::string help) {
    elaboration_.emitter()
        .report(elaboration_.spanOf(origin.isValid() ? origin : out.clause),
                Kind::VirtualWithoutInterleaving, "{} has no `{}`: {}",
                info.name, option, chunksOf(info))
        .help("{}", help);
    return false;
  };
  if (!given && info.chunks != ChunksPerRank::AsAsked)
    out.virtualStages = fixed;
  bool isFixed =
      info.chunks == ChunksPerRank::One || info.chunks == ChunksPerRank::Two;
  if (isFixed && out.virtualStages != fixed)
    return refuse(out.virtualOrigin, fmt::format("virtual"),
                  schedulesThat([](const ScheduleInfo &i) {
                    return i.chunks == ChunksPerRank::AsAsked;
                  }) + " have");
  if (info.chunks == ChunksPerRank::Waves && out.virtualStages % 2 != 0)
    return refuse(out.virtualOrigin,
                  fmt::format("virtual {}", out.virtualStages),
                  "`virtual` may be 2, 4, 6 …");
  if (out.group && !(info.takes & schedules::kGroup))
    return refuse(OriginId(), "group", schedulesThat([](const ScheduleInfo &i) {
                                         return (i.takes & schedules::kGroup) !=
                                                0;
                                       }) + " have");
  if (out.hasPairs && !(info.takes & schedules::kPairs))
    return refuse(OriginId(), "pairs", schedulesThat([](const ScheduleInfo &i) {
                                         return (i.takes & schedules::kPairs) !=
                                                0;
                                       }) + " have");
  return true;
}

bool PlanBuilder::buildPipeline() {
  if (!text_.pipeline)
    return true;
  Evaluator evaluator = in(text_.pipeline.scope);
  auto axis = axisOf(text_.pipeline->axis);
  Pipeline out;
  out.clause = originOf(text_.pipeline->span);
  const ast::Field *virtualField = nullptr, *scheduleField = nullptr,
                   *orderField = nullptr;
  for (const ast::Field &field : text_.pipeline->options) {
    virtualField = field.name.text == "virtual" ? &field : virtualField;
    scheduleField = field.name.text == "schedule" ? &field : scheduleField;
    orderField = field.name.text == "order" ? &field : orderField;
  }
  auto count = [&](std::string_view name, OriginId *origin, auto &value) {
    return FieldReader{
        name, [&, name, origin](const ast::Field &field) {
          const ast::Expr *expr = singleValue(elaboration_, field);
          if (!expr)
            return false;
          auto number = evaluator.atLeast(*expr, fmt::format("`{}`", name), 1);
          if (number)
            value = *number;
          if (origin)
            *origin = originOf(field.span);
          return number.has_value();
        }};
  };
  std::vector<FieldReader> readers = {
      {"schedule",
       [&](const ast::Field &f) { return readSchedule(f, evaluator, out); }},
      count("virtual", &out.virtualOrigin, out.virtualStages),
      count("group", nullptr, out.group),
      {"pairs",
       [&](const ast::Field &f) {
         const ast::Expr *value = singleValue(elaboration_, f);
         auto hasPairs =
             value ? evaluator.boolean(*value, "`pairs`") : std::nullopt;
         out.hasPairs = hasPairs.value_or(false);
         return hasPairs.has_value();
       }},
      {"layers",
       [&](const ast::Field &f) { return readLayers(f, evaluator, out); }},
      {"order",
       [&](const ast::Field &f) { return readOrder(f, evaluator, out); }},
  };
  bool isSound =
      readFields(elaboration_, "`pipeline`", text_.pipeline->options, readers);
  if (scheduleField && orderField) {
    elaboration_.emitter()
        .report(orderField->span, Kind::OrderBesideSchedule,
                "an order of one's own stands beside a schedule")
        .note(scheduleField->span, "the schedule is here")
        .help("keep one of the two");
    return false;
  }
  if (!isSound || !axis || !checkOptions(out, virtualField))
    return false;
  out.axis = *axis;
  out.stages = plan_.mesh.axes[*axis].size;
  plan_.pipeline = std::move(out);
  return true;
}

} // namespace planc::sema
