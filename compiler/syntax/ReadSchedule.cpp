#include "compiler/syntax/ReadSchedule.h"

#include "compiler/diag/Kinds.h"
#include "compiler/syntax/ProgramFields.h"
#include "runtime/base/Checked.h"

#include <type_traits>

namespace planc::syntax {

namespace {

using antlr4::Token;
using diag::Kind;
using P = ProgramTextParser;
using Pieces = Table<program::PieceId, program::Piece>;

#define PLANC_FIELD(Key, Member)                                               \
  {                                                                            \
    Key, [](FieldReader &reader, auto &line) { reader.into(line.Member); }     \
  }

constexpr FieldRule<sim::IssueOrder> kScheduleFields[] = {
    PLANC_FIELD("overlap", overlap),
};
constexpr FieldRule<sim::BlockOrder> kBlockFields[] = {
    PLANC_FIELD("index", block),
};
constexpr FieldRule<sim::BlockOrder> kOrderFields[] = {
    PLANC_FIELD("instructions", instructions),
};
constexpr FieldRule<sim::ClassIssue> kClassFields[] = {
    PLANC_FIELD("extra", extra),
};
constexpr FieldRule<timeline::Bucket> kBucketFields[] = {
    PLANC_FIELD("pieces", pieces),
    PLANC_FIELD("after", after),
    PLANC_FIELD("hold", hold),
};
constexpr FieldRule<sim::FormUse> kFormFields[] = {
    PLANC_FIELD("task", task),
    PLANC_FIELD("order", order),
};

#undef PLANC_FIELD

/// Builds the order from a syntax tree without mistakes.
class ScheduleBuilder {
public:
  ScheduleBuilder(const ProgramSyntax &syntax, const program::ProgramSet &set,
                  diag::Emitter &emitter)
      : syntax_(syntax), set_(set), emitter_(emitter) {}

  sim::IssueOrder build(const P::WholeContext &whole) {
    sim::IssueOrder order;
    read(whole.fields, order, {kScheduleFields});
    for (const P::ItemContext *item : whole.items) {
      if (!item->kind)
        continue;
      if (item->kind->getType() == P::BLOCK)
        readBlock(*item, order);
      else
        order.classes.add(
            buildClass(*item, program::RankClassId(order.classes.size())));
    }
    return order;
  }

private:
  template <class T>
  void read(const FieldContexts &fields, T &target,
            std::initializer_list<FieldRules<std::type_identity_t<T>>> tables) {
    readFields(syntax_, emitter_, fields, target, tables);
  }

  void readBlock(const P::ItemContext &item, sim::IssueOrder &order) {
    sim::BlockOrder head;
    read(item.fields, head, {kBlockFields});
    for (const P::LineContext *line : item.lines) {
      if (!line->word)
        continue;
      if (syntax_.text(line->word) != "order") {
        reportWord(syntax_, line->word, "line of a block", {"order"}, emitter_);
        continue;
      }
      sim::BlockOrder &one = order.orders.emplace_back();
      one.block = head.block;
      read(line->fields, one, {kOrderFields});
    }
  }

  sim::ClassIssue buildClass(const P::ItemContext &item,
                             program::RankClassId id) {
    sim::ClassIssue issue;
    read(item.fields, issue, {kClassFields});
    const std::string name = unquoted(syntax_, item.name, emitter_);
    const program::RankProgram *code =
        set_.classes.contains(id) ? &set_.classes[id] : nullptr;
    if (code == nullptr || code->name != name) {
      emitter_.report(syntax_.span(item.name), Kind::ProgramValue,
                      "class {} of the program is {}", id.index(),
                      code ? "`" + code->name + "`" : "not there");
      return issue;
    }
    for (const P::LineContext *line : item.lines)
      if (line->word)
        readLine(*line, *code, issue);
    return issue;
  }

  void readLine(const P::LineContext &line, const program::RankProgram &code,
                sim::ClassIssue &issue) {
    const std::string_view word = syntax_.text(line.word);
    if (word == "reduce")
      issue.reduces.push_back(buildBucket(line, code.reduces));
    else if (word == "gather")
      issue.gathers.push_back(buildBucket(line, code.gathers));
    else if (word == "form")
      read(line.fields, issue.forms.emplace_back(), {kFormFields});
    else
      reportWord(syntax_, line.word, "line of a class",
                 {"reduce", "gather", "form"}, emitter_);
  }

  timeline::Bucket buildBucket(const P::LineContext &line,
                               const Pieces &pieces) {
    timeline::Bucket bucket;
    read(line.fields, bucket, {kBucketFields});
    std::optional<std::int64_t> bytes = 0;
    for (program::PieceId id : bucket.pieces)
      if (bytes && pieces.contains(id))
        bytes = checkedAdd(*bytes, pieces[id].message.bytes.value);
    if (!bytes)
      emitter_.report(syntax_.span(line.word), Kind::NumberTooLarge,
                      "the pieces of the bucket add up to more than 64 bits");
    bucket.bytes = Bytes(bytes.value_or(0));
    return bucket;
  }

  const ProgramSyntax &syntax_;
  const program::ProgramSet &set_;
  diag::Emitter &emitter_;
};

} // namespace

std::optional<sim::IssueOrder> readSchedule(source::FileId file,
                                            const source::SourceSet &sources,
                                            const program::ProgramSet &set,
                                            diag::Emitter &emitter) {
  if (!isReadable(file, sources, emitter))
    return std::nullopt;
  const std::size_t errorsBefore = emitter.errorCount();
  ProgramSyntax syntax(file, sources, emitter);
  const P::WholeContext *whole = syntax.parse(ProgramSyntax::Head::Schedule);
  if (!whole)
    return std::nullopt;
  sim::IssueOrder order = ScheduleBuilder(syntax, set, emitter).build(*whole);
  if (emitter.errorCount() != errorsBefore)
    return std::nullopt;
  if (std::vector<std::string> broken = sim::verify(order, set);
      !broken.empty()) {
    reportRules(broken, syntax.span(whole->name), emitter);
    return std::nullopt;
  }
  return order;
}

} // namespace planc::syntax
