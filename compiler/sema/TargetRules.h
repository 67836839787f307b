// What the framework that a plan is for refuses, beyond what planc does: the
// rules of the `target` that the plan names (stdlib/targets, or one of the
// user's own), tried on the plan.
#pragma once

#include "compiler/sema/PlanText.h"
#include "compiler/sema/TargetQuantities.h"

#include <set>

namespace planc::sema {

/// The target a plan asks for; `clause` is the plan's.
struct TargetUse {
  const ast::TargetDecl *decl = nullptr; ///< null: the plan has none
  const FileScope *home = nullptr;
  source::SourceSpan clause;

  explicit operator bool() const { return decl != nullptr; }
};

/// By the plan's own word: a target in sight of the file that says it, else one
/// of the standard library. Nothing after a report.
std::optional<TargetUse> findTarget(Elaboration &elaboration,
                                    const PlanText &text);

class TargetRules {
public:
  /// `plan` has passed Constraints, or all of it that padded() asks for.
  TargetRules(Elaboration &elaboration, const PlanText &text,
              const ops::Model &model, const Plan &plan);

  /// Every rule on every kind of attention. False after a report.
  bool check();

  /// The size that the target's framework pads a dimension to, where it pads
  /// it; nothing too where the rule itself is wrong, which check() says.
  std::optional<std::int64_t> padded(ops::DimId dim) const;
  std::string_view name() const { return use_.decl->name.text; }

private:
  friend class TargetTrials;
  struct RuleText {
    const ast::Rule *rule = nullptr;
    const ast::Expr *when = nullptr; ///< may be null
    const ast::Expr *needs = nullptr, *says = nullptr;
    const ast::Expr *help = nullptr;   ///< may be null
    const ast::Expr *source = nullptr; ///< may be null
  };
  /// One dimension that is padded to a multiple.
  struct Padding {
    std::string_view name;
    const ast::Expr *multiple = nullptr;
  };

  bool read();
  bool readRule(const ast::Rule &rule);
  bool checkRule(const RuleText &rule);
  /// Yes, no, or nothing: not about this model, or wrong and reported.
  static std::optional<bool> holds(Elaboration &elaboration,
                                   const FileScope &home, const RuleText &rule,
                                   TargetHost &host);
  void report(const RuleText &rule, const TargetSubject &subject);
  /// A text, or a list of texts and numbers joined.
  std::string textOf(const ast::Expr &expr, TargetHost &host);
  void sayPadding();
  /// No two refusals stand at one place.
  source::SourceSpan placeOf(const std::vector<TargetHost::Read> &reads);

  Elaboration &elaboration_;
  const PlanText &text_;
  const ops::Model &model_;
  const Plan &plan_;
  TargetUse use_;
  std::vector<TargetSubject> subjects_;
  std::vector<RuleText> rules_;
  std::vector<Padding> paddings_;
  std::string version_;
  std::set<std::uint32_t> places_; ///< where something was refused
  bool isRead_ = false;
};

} // namespace planc::sema
