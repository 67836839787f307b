#include "compiler/validate/RowPlan.h"
#include "compiler/validate/StandardNames.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace planc::validate {

namespace {

/// Names of families and sizes as tables have them, and what they are here.
struct Synonym {
  std::string_view name, model;
};
constexpr Synonym kSynonyms[] = {
    {"moe", "mixtral"},   {"transformer", "gpt"}, {"gpt2", "gpt"},
    {"gpt3", "gpt"},      {"gpt_3", "gpt"},       {"gpt_2", "gpt"},
    {"megatron", "gpt"},  {"dense", "llama"},     {"llama2", "llama"},
    {"llama3", "llama"},  {"llama_2", "llama"},   {"llama_3", "llama"},
    {"mistral", "llama"}, {"qwen", "qwen2"},      {"deepseek_moe", "deepseek"}};

/// What a model of the row's sizes is given, formal by column.
struct Size {
  std::string_view formal;
  Column column;
};
constexpr Size kSizes[] = {{"layers", Column::Layers},
                           {"hidden", Column::Hidden},
                           {"heads", Column::Heads},
                           {"kv_heads", Column::KvHeads},
                           {"head_size", Column::HeadSize},
                           {"ffn", Column::Ffn},
                           {"vocab", Column::Vocab},
                           {"experts", Column::Experts},
                           {"top_k", Column::TopK},
                           {"expert_ffn", Column::ExpertFfn},
                           {"dense_layers", Column::DenseLayers},
                           {"context", Column::Sequence}};

const StandardModel *byName(const std::string &text) {
  std::string word = wordOf(text);
  if (const StandardModel *model = findModel(word))
    return model;
  for (const Synonym &synonym : kSynonyms)
    if (synonym.name == word)
      return findModel(synonym.model);
  // `LLAMA3.1_405B`: a minor version shares its sizes with the major one.
  for (std::string_view minor : {"3_1", "3_3"})
    if (const std::size_t at = word.find(minor); at != std::string::npos)
      if (const auto *model = findModel(word.erase(at + 1, 2)))
        return model;
  return nullptr;
}

class Writer {
public:
  Writer(const MeasuredRow &row, const StandardModel &model)
      : row_(row), model_(model), family_(*findModel(model.family)) {}

  std::variant<RowModel, NotExpressed> write() {
    if (auto reason = refuse())
      return NotExpressed{*reason};
    RowModel out;
    out.imports = fmt::format("import {}\n", family_.module);
    out.family = model_.family;
    out.hasKeyHeads = family_.argument("kv_heads") != nullptr;
    out.hasExperts = family_.argument("experts") != nullptr;
    std::string list;
    bool isStandard = !model_.isFamily();
    for (const auto &[formal, standard] : family_.arguments) {
      auto [value, differs] = valueOf(formal, standard);
      isStandard = isStandard && !differs;
      if (!value.empty())
        list +=
            fmt::format("{}{} = {}", list.empty() ? "" : ", ", formal, value);
    }
    out.notes = notes_;
    out.name = isStandard ? model_.name : "measured_model";
    if (isStandard)
      out.imports = fmt::format("import {}\n", model_.module);
    else
      out.declaration =
          fmt::format("model measured_model = {}({})\n", family_.name, list);
    return out;
  }

private:
  /// What the family cannot be, or is not given.
  std::optional<std::string> refuse() {
    const auto keys = row_.count(Column::KvHeads);
    if (keys && keys != row_.count(Column::Heads) && keys != 0 &&
        !family_.argument("kv_heads"))
      return fmt::format(
          "`{}` has as many key heads as heads, the row {} of {}", family_.name,
          row_.text(Column::KvHeads), row_.text(Column::Heads));
    for (const auto &[formal, standard] : family_.arguments) {
      const bool isGiven = model_.argument(formal) && !model_.isFamily();
      if (standard.empty() && !isGiven && !columnOf(formal) &&
          assumed(formal).empty())
        return fmt::format("`{}` of `{}` is not in the row", formal,
                           family_.name);
    }
    return std::nullopt;
  }

  /// The row's number for a formal, if it has one.
  std::optional<std::int64_t> columnOf(std::string_view formal) const {
    for (const Size &size : kSizes)
      if (size.formal == formal)
        if (const auto value = row_.count(size.column); value && *value > 0)
          return value;
    return std::nullopt;
  }

  /// Widely used sizes for what a table often leaves out.
  std::string_view assumed(std::string_view formal) const {
    if (formal == "vocab")
      return model_.family == "gpt" ? "51200" : "32000";
    return "";
  }

  /// The row's number; a vocabulary is padded as Megatron-LM does
  /// (--make-vocab-size-divisible-by, 128) by stacks with its models, and where
  /// tensor parallelism does not divide it.
  std::optional<std::int64_t> sizeOf(std::string_view formal,
                                     const std::string *given) {
    auto value = columnOf(formal);
    if (formal != "vocab")
      return value;
    const std::int64_t tp = row_.count(Column::Tp).value_or(1);
    if (std::int64_t standard = 0;
        !value && given &&
        std::from_chars(given->data(), given->data() + given->size(), standard)
                .ec == std::errc())
      value = standard;
    const std::int64_t whole = 128 * tp;
    const bool pads = habitsOf(row_).padsVocabulary;
    if (!value || *value % (pads ? whole : tp) == 0)
      return columnOf(formal);
    notes_.push_back(fmt::format("vocabulary of {} padded", *value));
    return (*value + whole - 1) / whole * whole;
  }

  struct Value {
    std::string text; ///< empty: the default of the family
    bool differs;     ///< from that of the standard model
  };
  Value valueOf(std::string_view formal, const std::string &standard) {
    const std::string *given =
        model_.isFamily() ? nullptr : model_.argument(formal);
    const std::string_view drop = habitsOf(row_).drop;
    if (formal == "drop" && !drop.empty() &&
        drop != (given ? *given : standard))
      return {std::string(drop), true};
    if (const auto value = sizeOf(formal, given)) {
      const std::string text = fmt::format("{}", *value);
      return {text, !isSaid(formal, text, given)};
    }
    if (given)
      return {*given, false};
    if (!standard.empty())
      return {"", false};
    notes_.push_back(fmt::format("{} {} assumed", formal, assumed(formal)));
    return {std::string(assumed(formal)), true};
  }

  /// True if the standard model has the value without the row's help: as
  /// given, by a default that comes to it, or by a length that it takes anyway.
  bool isSaid(std::string_view formal, const std::string &text,
              const std::string *given) const {
    if (given)
      return *given == text;
    const auto heads = columnOf("heads"), hidden = columnOf("hidden");
    if (formal == "kv_heads")
      return heads && text == fmt::format("{}", *heads);
    if (formal == "head_size")
      return heads && hidden && text == fmt::format("{}", *hidden / *heads);
    const std::string *standard = family_.argument(formal);
    return standard &&
           (*standard == text ||
            (formal == "ffn" && hidden && *standard == "4 * hidden" &&
             text == fmt::format("{}", 4 * *hidden)));
  }

  const MeasuredRow &row_;
  const StandardModel &model_, &family_;
  std::vector<std::string> notes_;
};

} // namespace

std::variant<RowModel, NotExpressed> modelOf(const MeasuredRow &row) {
  const StandardModel *model = nullptr;
  for (Column column : {Column::Arch, Column::Model})
    if (model == nullptr && row.has(column))
      model = byName(row.text(column));
  if (model == nullptr)
    return NotExpressed{
        row.has(Column::Arch) || row.has(Column::Model)
            ? fmt::format("the library has no model `{}`",
                          row.text(row.has(Column::Arch) ? Column::Arch
                                                         : Column::Model))
            : "no model is named"};
  return Writer(row, *model).write();
}

} // namespace planc::validate
