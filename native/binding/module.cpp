// The module idealist._kernel: `idealist.ranking`, compiled. Python defines what it means.
#include "binding/objects.hpp"

NB_MODULE(_kernel, module) {
    module.doc() = "The compiled kernel; its definition is idealist.ranking.order.";
    nanobind::set_leak_warnings(false);  // judgments and protocols live until the process ends
    idealist::bind_tables(module);
    idealist::bind_text(module);
    idealist::bind_dict(module);
    idealist::bind_rows(module);
    idealist::bind_lists(module);
    idealist::bind_columns(module);
    idealist::bind_judgments(module);
}
