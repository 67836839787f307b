// Settings of a plan written again as its clauses.
#include "compiler/compare/Settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace planc::compare {

namespace {

class Clauses {
public:
  explicit Clauses(std::span<const Setting> settings) : settings_(settings) {}

  std::string run() {
    batch();
    mesh();
    each("shard.", [&](std::string_view axis, const std::string &text) {
      line(fmt::format("shard {} over {}", text, axis));
    });
    each("state.", [&](std::string_view state, const std::string &text) {
      line(fmt::format("shard {} over {}", state, text));
    });
    pipeline();
    each("attention.", [&](std::string_view axis, const std::string &text) {
      line(fmt::format("attention over {} using {}", axis, text));
    });
    optimizer();
    keyed("precision");
    keyed("kernels");
    words("overlap", "");
    words("offload", " to host");
    for (std::string_view clause :
         {"recompute", "bucket", "prefetch", "reshard", "freeze", "target"})
      if (const std::string text = textOf(clause); !text.empty())
        line(fmt::format("{} {}", clause, text));
    return std::move(out_);
  }

private:
  void line(const std::string &text) { out_ += "  " + text + "\n"; }

  std::string textOf(std::string_view key) const {
    for (const Setting &setting : settings_)
      if (setting.key == key && setting.role == Setting::Role::Clause)
        return setting.text;
    return "";
  }

  /// Settings `PREFIXname` that say something.
  template <class Body> void each(std::string_view prefix, Body body) const {
    for (const Setting &setting : settings_)
      if (setting.role == Setting::Role::Clause && !setting.text.empty() &&
          setting.key.compare(0, prefix.size(), prefix) == 0)
        body(std::string_view(setting.key).substr(prefix.size()), setting.text);
  }

  void batch() {
    std::string text =
        fmt::format("batch {} sequences of {} tokens, micro {} sequences",
                    textOf("batch.sequences"), textOf("batch.tokens"),
                    textOf("batch.micro"));
    if (const std::string documents = textOf("batch.documents");
        !documents.empty())
      text += fmt::format(", documents of {} tokens", documents);
    line(text);
  }

  /// Axes in the order that `mesh.order` has, those it lacks last.
  void mesh() {
    const std::string order = ", " + textOf("mesh.order") + ",";
    std::vector<std::pair<std::size_t, std::string>> axes;
    each("mesh.", [&](std::string_view axis, const std::string &text) {
      if (axis != "order")
        axes.emplace_back(order.find(fmt::format(", {},", axis)),
                          fmt::format("{} = {}", axis, text));
    });
    std::stable_sort(axes.begin(), axes.end(),
                     [](auto &a, auto &b) { return a.first < b.first; });
    std::string text;
    for (const auto &[at, axis] : axes)
      text += (text.empty() ? "" : ", ") + axis;
    line("mesh " + text);
  }

  void pipeline() {
    const std::string over = textOf("pipeline.over");
    std::string fields;
    each("pipeline.", [&](std::string_view field, const std::string &text) {
      if (field != "over")
        fields +=
            fmt::format("{}{} {}", fields.empty() ? "" : ", ", field, text);
    });
    // Without an axis it parses no more than it should.
    if (!over.empty() || !fields.empty())
      line(fmt::format("pipeline over {} {{ {} }}", over, fields));
  }

  void optimizer() {
    std::string fields;
    each("optimizer.", [&](std::string_view field, const std::string &text) {
      fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", field, text);
    });
    line(fmt::format("optimizer {} {{ {} }}", textOf("optimizer"), fields));
  }

  void keyed(std::string_view clause) {
    std::string text;
    each(fmt::format("{}.", clause), [&](std::string_view key,
                                         const std::string &value) {
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, value);
    });
    if (!text.empty())
      line(fmt::format("{} {}", clause, text));
  }

  /// Those that hold; `none` where none does.
  void words(std::string_view clause, std::string_view after) {
    std::string text;
    each(fmt::format("{}.", clause),
         [&](std::string_view word, const std::string &holds) {
           if (holds == "yes")
             text += fmt::format("{}{}", text.empty() ? "" : ", ", word);
         });
    line(text.empty() ? fmt::format("{} none", clause)
                      : fmt::format("{} {}{}", clause, text, after));
  }

  std::span<const Setting> settings_;
  std::string out_;
};

} // namespace

std::string clausesOf(std::span<const Setting> settings) {
  return Clauses(settings).run();
}

std::string fileOf(std::span<const Setting> settings) {
  return "language 1\n"
         "accelerator none_of_it { peak bf16 = 1TFLOP/s }\n"
         "cluster nowhere { accelerator none_of_it }\n"
         "model nothing() { loss = tokens }\n"
         "plan hybrid for nothing on nowhere {\n" +
         clausesOf(settings) + "}\n";
}

} // namespace planc::compare
