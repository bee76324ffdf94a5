#include "columns/arrow.hpp"

#include "text/utf8.hpp"

namespace idealist {

void ArrowTable::open() {
    require(stream_ && stream_->get_schema(stream_.get(), schema_.get()) == 0 && schema_);
    check_column(*schema_);
    for (const string_view name : names())
        require(!bad_utf8(name.data(), name.data() + name.size()));
}

bool ArrowTable::has_names() const {
    return string_view(schema_->format) == "+s" && !schema_->dictionary;
}

std::vector<string_view> ArrowTable::names() const {
    std::vector<string_view> names;
    for (std::int64_t i = 0; i < schema_->n_children; ++i) {
        const char* name = schema_->children[i]->name;
        names.emplace_back(name ? name : "");
    }
    return names;
}

std::vector<bool> ArrowTable::numeric() const {
    std::vector<bool> numeric;
    for (std::int64_t i = 0; i < schema_->n_children; ++i)
        numeric.push_back(is_number(*schema_->children[i]));
    return numeric;
}

bool ArrowTable::read_batch() {
    if (!stream_) return false;
    Owned<ArrowArray> batch;
    require(stream_->get_next(stream_.get(), batch.get()) == 0);
    if (!batch) return false;
    require(batch->length >= 0);
    batches_.push_back(std::move(batch));
    return true;
}

void ArrowTable::drop(std::size_t batches) {
    for (; batches > 0; --batches) batches_.pop_front();
}

const ArrowSchema& ArrowTable::schema_of(std::size_t column) const {
    if (!has_names()) return *schema_;
    require(column < static_cast<std::size_t>(schema_->n_children));
    return *schema_->children[column];
}

// Refuse a batch that starts inside its columns or leaves rows out, as pyarrow does.
const ArrowArray& ArrowTable::array_of(const ArrowArray& batch, std::size_t column) const {
    if (!has_names()) return batch;
    check_array(batch, 1);
    require(batch.offset == 0 && batch.n_children == schema_->n_children);
    require(batch.children[column] && batch.children[column]->length == batch.length);
    return *batch.children[column];
}

Parts<Ids> ArrowTable::ids(std::size_t column) const {
    Parts<Ids> made;
    const ArrowSchema& schema = schema_of(column);
    for (const Owned<ArrowArray>& batch : batches_) {
        const ArrowArray& array = array_of(*batch, column);
        if (array.length) made.add(ids_of(schema, array), static_cast<std::size_t>(array.length));
    }
    return made;
}

Parts<Numbers> ArrowTable::numbers(std::size_t column) const {
    Parts<Numbers> made;
    const ArrowSchema& schema = schema_of(column);
    for (const Owned<ArrowArray>& batch : batches_) {
        const ArrowArray& array = array_of(*batch, column);
        if (array.length)
            made.add(numbers_of(schema, array), static_cast<std::size_t>(array.length));
    }
    return made;
}

}  // namespace idealist
