// Declined: thrown where something is not of the plain kind that the kernel reads; Python reads it.
#pragma once

namespace idealist {

struct Declined {};

inline void require(bool plain) {
    if (!plain) throw Declined();
}

}  // namespace idealist
