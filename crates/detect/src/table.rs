//! Tables indexed by the ids of a trace. Ids are dense and appear one by one, so tables grow as needed.

/// The entry at `index`, which is created with all before it if need be.
#[inline]
pub(crate) fn at<T: Default>(table: &mut Vec<T>, index: usize) -> &mut T {
    if index >= table.len() {
        grow(table, index);
    }
    &mut table[index]
}

#[cold]
fn grow<T: Default>(table: &mut Vec<T>, index: usize) {
    table.resize_with(index + 1, T::default);
}
