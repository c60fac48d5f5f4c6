//! Tasks about time zones. Answers hold on the day of the run only: the server takes today's offsets.

use super::task::{Task, as_it_is, between, text};
use crate::direct::call;
use serde_json::json;

const TIME: &[&str] = &["time"];
const ZONES: &[&str] = &[
    "Europe/Berlin",
    "Europe/Lisbon",
    "Africa/Lagos",
    "Asia/Kolkata",
    "Asia/Tokyo",
    "Asia/Shanghai",
    "America/New_York",
    "America/Vancouver",
    "America/Sao_Paulo",
    "Australia/Sydney",
];

pub fn all() -> Vec<Task> {
    vec![
        Task {
            id: "time-convert",
            question: "What time is it in Asia/Tokyo when it is 15:30 in Europe/Stockholm? Give HH:MM.",
            servers: TIME,
            head: "nothing",
            direct: |model| {
                let args = json!({"source_timezone": "Europe/Stockholm", "time": "15:30", "target_timezone": "Asia/Tokyo"});
                let told = model.json("time", "convert_time", args)?;
                Ok(between(text(&told["target"]["datetime"]), "T", "+")[..5].into())
            },
            tools: &["time/convert_time"],
            programs: &[r#"
(subs (:datetime (:target (:value (tool/call {:server "time" :tool "convert_time" :args {:source_timezone "Europe/Stockholm" :time "15:30" :target_timezone "Asia/Tokyo"}})))) 11 16)
"#],
            read_out: as_it_is,
        },
        Task {
            id: "time-awake",
            question: "It is 14:00 in Europe/Berlin. In which of Europe/Lisbon, Africa/Lagos, Asia/Kolkata, Asia/Tokyo, Asia/Shanghai, America/New_York, America/Vancouver, America/Sao_Paulo and Australia/Sydney is it between 08:00 and 20:00? Keep the order.",
            servers: TIME,
            head: "9 comparisons",
            direct: |model| {
                let convert = |zone: &&str| {
                    let args =
                        json!({"source_timezone": "Europe/Berlin", "time": "14:00", "target_timezone": zone});
                    call("time", "convert_time", args)
                };
                let told = model.jsons(ZONES[1..].iter().map(convert).collect())?;
                let hour = |at: usize| {
                    between(text(&told[at]["target"]["datetime"]), "T", ":").parse::<u32>().expect("an hour")
                };
                let awake = ZONES[1..].iter().enumerate().filter(|(at, _)| (8..20).contains(&hour(*at)));
                Ok(json!(awake.map(|(_, zone)| *zone).collect::<Vec<_>>()))
            },
            tools: &["time/convert_time"],
            programs: &[r#"
(filter (fn [zone]
          (let [r (tool/call {:server "time" :tool "convert_time" :args {:source_timezone "Europe/Berlin" :time "14:00" :target_timezone zone}})]
            (if (:ok r) (<= 8 (parse-long (subs (:datetime (:target (:value r))) 11 13)) 19) (fail (:message r)))))
        ["Europe/Lisbon" "Africa/Lagos" "Asia/Kolkata" "Asia/Tokyo" "Asia/Shanghai" "America/New_York" "America/Vancouver" "America/Sao_Paulo" "Australia/Sydney"])
"#],
            read_out: as_it_is,
        },
        Task {
            id: "time-meeting",
            question: "At which full hours of UTC (Etc/UTC) is it between 07:00 and 21:59 in Europe/Lisbon, Asia/Kolkata and America/New_York alike? Give the hours as numbers.",
            servers: TIME,
            head: "adds 3 offsets to 24 hours",
            direct: |model| {
                // One conversion per zone gives the offset; the rest is arithmetic.
                let zones = ["Europe/Lisbon", "Asia/Kolkata", "America/New_York"];
                let convert = |zone: &&str| {
                    call(
                        "time",
                        "convert_time",
                        json!({"source_timezone": "Etc/UTC", "time": "12:00", "target_timezone": zone}),
                    )
                };
                let told = model.jsons(zones.iter().map(convert).collect())?;
                let offset = |at: usize| {
                    let time = between(text(&told[at]["target"]["datetime"]), "T", "Z");
                    60 * time[..2].parse::<i32>().expect("an hour")
                        + time[3..5].parse::<i32>().expect("a minute")
                        - 720
                };
                let good = |hour: &i32| {
                    (0..3).all(|at| (7 * 60..22 * 60).contains(&(60 * hour + offset(at)).rem_euclid(1440)))
                };
                Ok(json!((0..24).filter(good).collect::<Vec<_>>()))
            },
            tools: &["time/convert_time"],
            programs: &[r#"
(defn offset [zone]
  (let [r (tool/call {:server "time" :tool "convert_time" :args {:source_timezone "Etc/UTC" :time "12:00" :target_timezone zone}})
        [h m] (if (:ok r) (map parse-long (str/split (subs (:datetime (:target (:value r))) 11 16) #":")) (fail (:message r)))]
    (- (+ (* 60 h) m) 720)))
(def offsets (map offset ["Europe/Lisbon" "Asia/Kolkata" "America/New_York"]))
(filter (fn [h] (every? #(<= 420 (mod (+ (* 60 h) %) 1440) 1319) offsets)) (range 24))
"#],
            read_out: as_it_is,
        },
    ]
}
