// Declined: thrown at input that is not of the plain kind the kernel reads; Python then reads it.
#pragma once

namespace idealist {

struct Declined {};

inline void require(bool plain) {
    if (!plain) throw Declined();
}

}  // namespace idealist
