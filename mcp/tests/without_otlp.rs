//! Built without the feature `otlp`: whoever asks for spans is told why there are none. `.ci/run without_features` builds it
//! like that.
#![cfg(not(feature = "otlp"))]

use ptc_mcp::otlp::Exporter;

#[test]
fn a_collector_needs_the_feature() {
    let executor = tokio::runtime::Builder::new_current_thread().build().expect("threads");
    let refused = Exporter::start("http://127.0.0.1:4318", "1.0", executor.handle()).err();
    let wanted = "--otlp-endpoint: this program was built without the feature `otlp`";
    assert_eq!(refused.as_deref(), Some(wanted));
}
