//! Builds without the feature `otlp`: starting an exporter fails with that reason. `.ci/run without_features`
//! builds it like that.
#![cfg(not(feature = "otlp"))]

use ptc_mcp::otlp::Exporter;

#[test]
fn a_collector_needs_the_feature() {
    let executor = tokio::runtime::Builder::new_current_thread().build().expect("threads");
    let refused = Exporter::start("http://127.0.0.1:4318", "1.0", executor.handle()).err();
    let wanted = "--otlp-endpoint: this program was built without the feature `otlp`";
    assert_eq!(refused.as_deref(), Some(wanted));
}
