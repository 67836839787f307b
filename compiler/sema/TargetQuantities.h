// The named quantities of a plan that the rules of a target speak of.
#pragma once

#include "compiler/sema/Evaluate.h"
#include "compiler/sema/Plan.h"

#include <vector>

namespace planc::sema {

enum class TargetQuantity : std::uint8_t {
#define PLANC_TARGET_QUANTITY(Name, Text) Name,
#include "compiler/sema/TargetQuantities.def"
};

/// What of a model the rules ask about, found by what operators do with it and
/// not by its name. A model with several kinds of attention has a subject each.
struct TargetSubject {
  const ops::Model *model = nullptr;
  struct Attention {
    ops::DimId heads, keyHeads, headSize;
    bool operator==(const Attention &) const = default;
  };
  std::optional<Attention> attention;
  std::optional<ops::DimId> vocab, experts;
};
/// At least one.
std::vector<TargetSubject> targetSubjects(const ops::Model &model);

/// Gives a rule's expression its names: quantities, `ways(D, …)` (the product
/// of the axes that list all of these) and `overlaps(KIND)`. Remembers what was
/// asked for. A quantity that the model does not have is quiet Poison, and
/// isAbsent() from then on: the rule is not about this model.
class TargetHost final : public TensorHost {
public:
  TargetHost(Elaboration &elaboration, const TargetSubject &subject,
             const Plan &plan)
      : elaboration_(elaboration), subject_(subject), plan_(plan) {}

  struct Read {
    std::string text, value; ///< `ways(heads)`, `8`
    std::optional<TargetQuantity> quantity;
    std::vector<AxisId> axes; ///< of `ways`
  };
  bool isAbsent() const { return isAbsent_; }
  /// Each once, in the order they were first asked for.
  const std::vector<Read> &reads() const { return reads_; }

  std::optional<Value> findTensor(std::string_view name) override;
  void addNames(std::vector<std::string_view> &names) const override;
  Value callTensor(const ast::CallExpr &call) override;
  Value declareWeight(const ast::IndexExpr &index) override;
  Value joinTensors(const ast::BinaryExpr &expr, const Value &,
                    const Value &) override;

private:
  Value valueOf(TargetQuantity quantity);
  Value ways(const ast::CallExpr &call);
  Value overlaps(const ast::CallExpr &call);
  /// The names in a call's brackets; nothing after a report.
  std::optional<std::vector<std::string_view>>
  namesIn(const ast::CallExpr &call);
  bool lists(AxisId axis, std::string_view set);
  Value sizeOf(std::optional<ops::DimId> dim);
  Value absent() {
    isAbsent_ = true;
    return Poison();
  }
  void remember(Read read);

  Elaboration &elaboration_;
  const TargetSubject &subject_;
  const Plan &plan_;
  bool isAbsent_ = false;
  std::vector<Read> reads_;
};

} // namespace planc::sema
