//! Missions as spans of other systems.

#[cfg(feature = "otel")]
mod otel {
    use crate::sample::mission;
    use opentelemetry::Value;
    use opentelemetry::metrics::MeterProvider;
    use opentelemetry::trace::{SpanId, Status, TracerProvider};
    use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
    use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
    use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
    use ptc_agent::trace::{OpenTelemetry, Tracer};

    fn spans(content: bool) -> Vec<SpanData> {
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
        let export = OpenTelemetry::new(provider.tracer("ptc-agent")).content(content);
        mission(&Tracer::new().deterministic().with(export));
        exporter.get_finished_spans().unwrap()
    }

    fn attribute<'s>(span: &'s SpanData, key: &str) -> Option<&'s Value> {
        span.attributes.iter().find(|pair| pair.key.as_str() == key).map(|pair| &pair.value)
    }

    #[test]
    fn spans_are_named_and_nested_by_the_conventions() {
        let spans = spans(false);
        let path = |span: &SpanData| {
            let mut names = vec![span.name.to_string()];
            let mut parent = span.parent_span_id;
            while let Some(above) = spans.iter().find(|span| span.span_context.span_id() == parent) {
                names.push(above.name.to_string());
                parent = above.parent_span_id;
            }
            assert_eq!(parent, SpanId::INVALID);
            names.reverse();
            names.join(" / ")
        };
        let mut paths: Vec<String> = spans.iter().map(path).collect();
        paths.sort();
        let wanted = [
            "invoke_agent triage",
            "invoke_agent triage / turn",
            "invoke_agent triage / turn",
            "invoke_agent triage / turn / chat m1",
            "invoke_agent triage / turn / chat m1",
            "invoke_agent triage / turn / execute_tool helper",
            "invoke_agent triage / turn / execute_tool helper / invoke_agent helper",
            "invoke_agent triage / turn / execute_tool helper / invoke_agent helper / turn",
            "invoke_agent triage / turn / execute_tool helper / invoke_agent helper / turn / chat m1",
            "invoke_agent triage / turn / execute_tool search",
        ];
        assert_eq!(paths, wanted);
        let traces: std::collections::HashSet<_> =
            spans.iter().map(|span| span.span_context.trace_id()).collect();
        assert_eq!(traces.len(), 1, "agents below are in the same trace");
    }

    #[test]
    fn attributes_tell_model_tokens_and_failures() {
        let spans = spans(false);
        let chat = spans.iter().find(|span| span.name.starts_with("chat")).unwrap();
        for (key, value) in [
            ("gen_ai.operation.name", Value::from("chat")),
            ("gen_ai.request.model", Value::from("m1")),
            ("gen_ai.agent.name", Value::from("triage")),
            ("gen_ai.usage.input_tokens", Value::from(100)),
            ("gen_ai.usage.output_tokens", Value::from(10)),
        ] {
            assert_eq!(attribute(chat, key), Some(&value), "{key}");
        }
        assert!(chat.end_time > chat.start_time);
        let tool = spans.iter().find(|span| span.name == "execute_tool helper").unwrap();
        assert_eq!(tool.status, Status::error("nothing"));
        assert_eq!(attribute(tool, "gen_ai.tool.name"), Some(&Value::from("helper")));
        assert_eq!(attribute(tool, "error.type"), Some(&Value::from("_OTHER")));
    }

    #[test]
    fn what_was_said_is_only_there_if_asked_for() {
        let quiet = format!("{:?}", spans(false));
        assert!(!quiet.contains("go on") && !quiet.contains("(fail :nothing)"));
        let told = spans(true);
        let chat = told.iter().find(|span| span.name.starts_with("chat")).unwrap();
        let wanted = r#"[{"parts":[{"content":"go on","type":"text"}],"role":"user"}]"#;
        assert_eq!(attribute(chat, "gen_ai.input.messages"), Some(&Value::from(wanted)));
    }

    #[test]
    fn requests_are_measured() {
        let exporter = InMemoryMetricExporter::default();
        let provider = SdkMeterProvider::builder()
            .with_reader(PeriodicReader::builder(exporter.clone()).build())
            .build();
        let spans = SdkTracerProvider::builder().build();
        let export = OpenTelemetry::new(spans.tracer("ptc-agent")).metrics(&provider.meter("ptc-agent"));
        mission(&Tracer::new().deterministic().with(export));
        provider.force_flush().unwrap();
        let got = exporter.get_finished_metrics().unwrap();
        let metrics: Vec<_> =
            got.iter().flat_map(|all| all.scope_metrics()).flat_map(|scope| scope.metrics()).collect();
        let tokens = metrics.iter().find(|metric| metric.name() == "gen_ai.client.token.usage").unwrap();
        let AggregatedMetrics::U64(MetricData::Histogram(tokens)) = tokens.data() else {
            panic!("no histogram")
        };
        let (mut input, mut output) = (0, 0);
        for point in tokens.data_points() {
            match point
                .attributes()
                .find(|pair| pair.key.as_str() == "gen_ai.token.type")
                .unwrap()
                .value
                .as_str()
            {
                of if of == "input" => input += point.sum(),
                _ => output += point.sum(),
            }
        }
        assert_eq!((input, output), (300, 30));
        assert!(metrics.iter().any(|metric| metric.name() == "gen_ai.client.operation.duration"));
    }
}

#[cfg(feature = "tracing")]
mod tracing_spans {
    use crate::sample::mission;
    use ptc_agent::trace::{Tracer, TracingSpans};
    use std::io::Write;
    use std::sync::{Arc, Mutex};
    use tracing_subscriber::fmt::format::FmtSpan;

    #[derive(Clone, Default)]
    struct Text(Arc<Mutex<Vec<u8>>>);

    impl Write for Text {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn spans_are_nested_and_tell_their_end() {
        let text = Text::default();
        let to = text.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || to.clone())
            .with_span_events(FmtSpan::CLOSE)
            .with_ansi(false)
            .without_time()
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            mission(&Tracer::new().deterministic().with(TracingSpans::new()));
        });
        let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 10, "{text}");
        let deepest =
            lines.iter().find(|line| line.contains("agent=\"helper\"") && line.contains(":llm{")).unwrap();
        let order: Vec<usize> = ["run{", ":turn{", ":tool{", ":run{", ":turn{", ":llm{"]
            .iter()
            .scan(0, |from, word| {
                *from += deepest[*from..].find(word)? + 1;
                Some(*from)
            })
            .collect();
        assert_eq!(order.len(), 6, "{deepest}");
        assert!(deepest.contains("input_tokens=100"), "{deepest}");
        assert!(text.contains("error=\"_OTHER: nothing\"") && !text.contains("(fail :nothing)"), "{text}");
    }
}
