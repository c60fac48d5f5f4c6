//! The programs of the group `accumulators`: textbook algorithms that build their result step by step in a
//! vector, map or set. Languages that change collections in place do this best, so the group shows what it costs
//! to write the same step as `assoc`, `conj` or `update`.
//!
//! Every program computes its own input from `x -> (x * 1366 + 150889) mod 714025`. All products stay below 2^31:
//! they are exact in LuaJIT's doubles, and small integers everywhere.

/// Name of the group: `--only accumulators` means all of its programs.
const GROUP: &str = "accumulators";

/// The one list of programs, in the order they are shown, as what its user needs:
///
/// - `programs!(names)`: their names,
/// - `programs!(functions)`: names with the functions of these names in scope,
/// - `programs!(sources "lua", ".lua")`: names with the texts in `progs/lua/accumulators`.
macro_rules! programs {
    (names) => { $crate::accumulators::programs!(@each names) };
    (functions) => { $crate::accumulators::programs!(@each functions) };
    (sources $folder:literal, $extension:literal) => {
        $crate::accumulators::programs!(@each sources $folder $extension)
    };
    (@each $($form:tt)*) => {
        $crate::accumulators::programs! { @$($form)* :
            sieve counting_sort coin_change grid_paths union_find bfs_grid matrix_product json_rewrite
            tokenizer lru_cache edit_distance collatz n_queens
        }
    };
    (@names : $($name:ident)*) => { [$(stringify!($name)),*] };
    (@functions : $($name:ident)*) => { [$((stringify!($name), $name as fn() -> serde_json::Value)),*] };
    (@sources $folder:literal $extension:literal : $($name:ident)*) => {
        [$((
            stringify!($name),
            // From the root of the crate, because a relative path would depend on the file that calls the macro.
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/progs/", $folder, "/accumulators/", stringify!($name), $extension
            )),
        )),*]
    };
}
pub(crate) use programs;

/// Names of all programs, which are also their workloads.
pub const NAMES: &[&str] = &programs!(names);

/// Replaces the group by its programs. Arms, also those in other languages, know only single workloads.
pub fn expand(only: Vec<String>) -> Vec<String> {
    only.into_iter()
        .flat_map(|name| match name.as_str() {
            GROUP => NAMES.iter().map(|name| name.to_string()).collect(),
            _ => vec![name],
        })
        .collect()
}
