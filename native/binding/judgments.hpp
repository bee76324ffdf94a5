// Judgments: the judged pairs that Python holds.
#pragma once

#include <memory>
#include <optional>

#include "binding/objects.hpp"
#include "judgments/judgments.hpp"

namespace idealist {

// Judged pairs of query and document. `kept` owns the memory of the ids.
class Pairs {
  public:
    Pairs(Judgments judgments, std::shared_ptr<const void> kept)
        : judgments_(std::move(judgments)), kept_(std::move(kept)) {}

    const Judgments& table() const { return judgments_; }

    // The documents as they are looked up, made when this is first asked for.
    const Judged& judged();

  private:
    Judgments judgments_;
    std::shared_ptr<const void> kept_;
    std::optional<Judged> judged_;
};

// What Python gets of judgments that were read: the pairs, their grades, and how many repeat.
nb::object pairs_of(Judgments judgments, std::shared_ptr<const void> kept);

}  // namespace idealist
