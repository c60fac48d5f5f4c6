//! Files as tables.

use async_trait::async_trait;
use datafusion::catalog::{DynamicFileCatalog, TableProvider, UrlTableFactory};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::session_state::SessionState;
use datafusion::prelude::SessionContext;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

/// Suffixes of compressed files.
const COMPRESSED: [&str; 4] = ["gz", "zst", "bz2", "xz"];

/// Makes files tables by their names: `from 'orders.parquet'`. On a cluster, only names that mean the same everywhere.
pub fn by_name(context: SessionContext, on_cluster: bool) -> SessionContext {
    let state: Arc<OnceLock<SessionState>> = Arc::default();
    let files = Arc::new(Files { state: state.clone(), on_cluster });
    let catalogs = DynamicFileCatalog::new(context.state().catalog_list().clone(), files);
    let with_files =
        SessionStateBuilder::new_from_existing(context.state()).with_catalog_list(Arc::new(catalogs)).build();
    let context = SessionContext::new_with_state(with_files);
    // Only to open files: its catalogs are those that were there before.
    let _ = state.set(context.state());
    context
}

struct Files {
    state: Arc<OnceLock<SessionState>>,
    on_cluster: bool,
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Files")
    }
}

#[async_trait]
impl UrlTableFactory for Files {
    async fn try_new(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(state) = self.state.get() else { return Ok(None) };
        // A plain name is a table that does not exist.
        let is_file = name.contains(['/', '\\', '.']);
        if is_file && self.on_cluster && !name.contains("://") && !std::path::Path::new(name).is_absolute() {
            let message = format!("`{name}`: executors find files by absolute paths, such as '/data/{name}'");
            return Err(DataFusionError::Plan(message));
        }
        match is_file {
            true => open(state, name).await.map(Some),
            false => Ok(None),
        }
    }
}

/// Opens a file, or all files that a pattern matches.
pub async fn open(state: &SessionState, path: &str) -> Result<Arc<dyn TableProvider>> {
    let (format, suffix) = format_of(path)?;
    let is_local = !path.contains("://");
    if is_local && !path.contains(['*', '?', '[']) && !std::path::Path::new(path).is_file() {
        return Err(DataFusionError::Plan(format!("there is no file `{path}`")));
    }
    let url = ListingTableUrl::parse(path)?;
    let options = ListingOptions::new(format).with_file_extension(suffix);
    let config = ListingTableConfig::new(url).with_listing_options(options);
    let named = |error: DataFusionError| error.context(format!("`{path}`"));
    let config = config.infer_schema(state).await.map_err(named)?;
    if config.file_schema.as_ref().is_some_and(|schema| schema.fields().is_empty()) {
        return Err(DataFusionError::Plan(format!("`{path}`: there is no such file, or it has no columns")));
    }
    Ok(Arc::new(ListingTable::try_new(config)?))
}

/// Returns the format of a file, and the end of its name.
fn format_of(path: &str) -> Result<(Arc<dyn FileFormat>, String)> {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let mut parts = file.rsplit('.');
    let last = parts.next().unwrap_or_default().to_lowercase();
    let is_compressed = COMPRESSED.contains(&&*last);
    let kind = if is_compressed { parts.next().unwrap_or_default().to_lowercase() } else { last.clone() };
    let compression = match is_compressed {
        true => FileCompressionType::from_str(&last)?,
        false => FileCompressionType::UNCOMPRESSED,
    };
    let csv = || CsvFormat::default().with_has_header(true).with_file_compression_type(compression);
    let format: Arc<dyn FileFormat> = match &*kind {
        "parquet" | "pq" if !is_compressed => Arc::new(ParquetFormat::default()),
        "arrow" | "feather" | "ipc" if !is_compressed => Arc::new(ArrowFormat),
        "csv" => Arc::new(csv()),
        "tsv" => Arc::new(csv().with_delimiter(b'\t')),
        "json" | "jsonl" | "ndjson" => {
            Arc::new(JsonFormat::default().with_file_compression_type(compression))
        }
        _ => {
            return Err(DataFusionError::Plan(format!(
                "`{path}`: the name of a file says its format: .parquet, .csv, .tsv, .jsonl or .arrow, text also with .gz, \
                 .zst, .bz2 or .xz"
            )));
        }
    };
    // Names keep their letters, small or not.
    let suffix: Vec<&str> = file.rsplit('.').take(if is_compressed { 2 } else { 1 }).collect();
    Ok((format, format!(".{}", suffix.into_iter().rev().collect::<Vec<_>>().join("."))))
}
