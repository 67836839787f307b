// One plan's clauses added to those of the plan it varies.
#pragma once

#include "compiler/sema/PlanText.h"

#include <set>

namespace planc::sema {

/// Adds the clauses of one plan, the varied one first.
class PlanMerger {
public:
  PlanMerger(Elaboration &elaboration, PlanText &out)
      : elaboration_(elaboration), out_(out) {}

  void merge(std::span<const ast::Clause *const> clauses,
             const PlanScope &scope);

private:
  template <class T> Said<T> said(const T &node) const {
    return {&node, scope_, clause_->span};
  }
  void mergeOne(const ast::Clause &clause);
  bool isRepeated(const ast::Clause &clause);
  void mergeBatch(const ast::BatchClause &clause);
  void mergeShard(const ast::ShardClause &clause);
  void mergeAxis(const ast::ShardClause &clause, const ast::Name &axis);
  void mergeState(const ast::ShardClause &clause);
  void mergeKeyed(std::vector<KeyedEntry> &entries, source::SourceSpan &place,
                  std::span<const ast::Argument> arguments);
  void mergeMesh(const ast::MeshClause &clause);
  void mergeAttention(const ast::AttentionClause &clause);
  void mergeOverlap(const ast::OverlapClause &clause);
  void mergeExpect(const ast::ExpectClause &clause);
  void putExpectation(KeyedEntry entry);
  void put(std::vector<KeyedEntry> &entries, KeyedEntry entry);
  void drop(std::vector<KeyedEntry> &entries, std::string_view key,
            source::SourceSpan span);
  void dropClause(const ast::DropClause &clause);
  bool dropNamed(std::string_view name);
  template <class T> static bool clear(T &value) {
    bool was = static_cast<bool>(value);
    value = T();
    return was;
  }
  static bool clear(std::vector<KeyedEntry> &entries) {
    bool was = !entries.empty();
    entries.clear();
    return was;
  }
  void reportNothing(std::string_view name, source::SourceSpan span);

  Elaboration &elaboration_;
  PlanText &out_;
  PlanScope scope_;
  const ast::Clause *clause_ = nullptr;
  std::set<ast::ClauseKind> seen_;    ///< in this plan
  std::set<ast::ClauseKind> firstOf_; ///< others, in this plan
  std::set<std::string> axesSeen_;    ///< with a list in this plan
  std::set<std::string> contextSeen_; ///< with an attention in this plan
  std::set<StateKind> statesSeen_;
  std::set<std::string> metricsSeen_; ///< expected something of in this plan
  std::set<std::pair<const void *, std::string>> keysSeen_;
};

} // namespace planc::sema
